"use strict";
// The game of the front page and the recipes: loads Python and the library when someone asks for it.
{
  const PYODIDE = "https://cdn.jsdelivr.net/pyodide/v314.0.7/full/";
  const { src, dataset } = document.currentScript;
  const held = new Set();
  let loading; // one Python for the page
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

  const start = async () => {
    await load(`${PYODIDE}pyodide.js`);
    const python = await loadPyodide({ indexURL: PYODIDE });
    await python.loadPackage(["numpy", "micropip"]);
    await python.pyimport("micropip").install(["esper", here(dataset.wheel)]);
    python.FS.mkdirTree("docs");
    for (const name of ["platformer_pyglet.py", "browser.py", "docs/drawing.py", "docs/recipe.py"]) {
      python.FS.writeFile(name, await text(name.replace("docs/", "")));
    }
    return python;
  };

  // A place with a view is below the picture of a recipe, whose program is the next one.
  const play = async (place, said) => {
    said.textContent = "Loading Python, about 10 MB ...";
    const python = await (loading ??= start());
    const canvas = Object.assign(document.createElement("canvas"), { width: 640, height: 320, tabIndex: 0 });
    const context = canvas.getContext("2d");
    let frame;
    if (place.dataset.view) {
      const program = place.closest("section").querySelector("pre").textContent;
      frame = python.pyimport("docs.recipe").begin(context, program, place.dataset.view);
    } else {
      listen(canvas);
      frame = python.pyimport("browser").begin(context, held);
    }
    place.replaceChildren(canvas);
    canvas.focus();
    const next = (now) => { frame(now); requestAnimationFrame(next); };
    requestAnimationFrame(next);
  };

  for (const place of document.querySelectorAll(".play")) {
    place.querySelector("button").onclick = (event) => play(place, event.target).catch((error) => {
      loading = undefined;
      event.target.textContent = `This browser cannot play: ${error.message ?? "no connection"}`;
    });
  }
}
