"use strict";
// The front page's game: loads Python, the library and the game when someone asks for it.
{
  const PYODIDE = "https://cdn.jsdelivr.net/pyodide/v314.0.7/full/";
  const { src, dataset } = document.currentScript;
  const place = document.getElementById("play");
  const held = new Set();
  const here = (name) => new URL(name, src).href;
  const text = async (name) => (await fetch(here(name))).text();

  const load = (url) => new Promise((done, fail) => {
    const script = Object.assign(document.createElement("script"), { src: url, onload: done, onerror: fail });
    document.head.append(script);
  });

  const listen = (canvas) => {
    const keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];
    canvas.onkeydown = (event) => {
      if (keys.includes(event.key)) event.preventDefault(); // the page does not scroll
      held.add(event.key);
    };
    canvas.onkeyup = (event) => held.delete(event.key);
    canvas.onblur = canvas.onpointerup = () => held.clear();
    canvas.onpointerdown = (event) => { // a finger: at the sides to walk, between them to jump
      const part = event.offsetX / canvas.clientWidth;
      held.add(part < 0.3 ? "ArrowLeft" : part > 0.7 ? "ArrowRight" : "ArrowUp");
    };
  };

  const play = async (said) => {
    said.textContent = "Loading Python, about 15 MB ...";
    await load(`${PYODIDE}pyodide.js`);
    const python = await loadPyodide({ indexURL: PYODIDE });
    await python.loadPackage(["numpy", "micropip"]);
    await python.pyimport("micropip").install(["esper", here(dataset.wheel)]);
    for (const name of ["platformer_pyglet.py", "browser.py"]) {
      python.FS.writeFile(name, await text(name));
    }
    const canvas = Object.assign(document.createElement("canvas"), { width: 640, height: 320, tabIndex: 0 });
    listen(canvas);
    const frame = python.pyimport("browser").begin(canvas.getContext("2d"), held);
    place.replaceChildren(canvas);
    canvas.focus();
    const next = (now) => { frame(now); requestAnimationFrame(next); };
    requestAnimationFrame(next);
  };

  place.querySelector("button").onclick = (event) => play(event.target).catch((error) => {
    event.target.textContent = `This browser cannot play: ${error.message ?? "no connection"}`;
  });
}
