"use strict";
// Plays a recording on a canvas: what page.py wrote into the page is decoded, drawn and stepped.
// The functions above "the screen" need no browser; the tests run them in Node.

// -- the frames --

const PAGE_FORMAT = "ecs_collide page 1";
// The numbers of a body, in their order in the file; a slope has the corners of its solid part too.
const [NAME, KIND, LEFT, LOW, RIGHT, HIGH, SPEED_X, SPEED_Y, CORNERS] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

/** Unpack base64 of gzip of JSON. */
async function unpackRecording(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return readRecording(JSON.parse(await new Response(stream).text()));
}

/** Give each frame all of its bodies, and its trees: the file has only what changed. */
function readRecording(data) {
  if (data.format !== PAGE_FORMAT) {
    throw new Error(`the recording has format ${data.format} and must have ${PAGE_FORMAT}`);
  }
  let bodies = new Map();
  let trees = { fat: [], branches: [] };
  const frames = data.frames.map((line) => {
    bodies = new Map(bodies); // bodies that did not change are shared between frames
    for (const entity of line.gone) bodies.delete(entity);
    for (const [entity, body] of Object.entries(line.changed)) bodies.set(Number(entity), body);
    trees = line.trees ?? trees;
    return { ...line, bodies, trees };
  });
  return { ...data, frames };
}

/** The names of the layers that a recording can show, in the order in which they are drawn. */
function layersOf(recording) {
  const hasTrees = recording.frames.some((frame) => frame.trees.fat.length > 0);
  return Object.keys(LAYERS).filter((name) => hasTrees || !LAYERS[name].isOfTrees);
}

/** Find the frame at a time in seconds: the last one that is not later. */
function frameAt(frames, time) {
  let first = 0;
  let last = frames.length - 1;
  while (first < last) {
    const middle = Math.ceil((first + last) / 2);
    if (frames[middle].time <= time) first = middle;
    else last = middle - 1;
  }
  return first;
}

/** The step, the time and the inputs of a frame as a line. */
function describeFrame(recording, n) {
  const frame = recording.frames[n];
  const last = recording.frames[recording.frames.length - 1].step;
  const inputs = frame.inputs ? `   inputs ${frame.inputs}` : "";
  return `step ${frame.step} of ${last}   ${frame.time.toFixed(3)} s   ${frame.bodies.size} bodies${inputs}`;
}

/** The min and the max corner of what is shown: around the followed body, or where bodies move. */
function viewOf(recording, frame) {
  const body = frame.bodies.get(recording.follow);
  if (body === undefined) return recording.view;
  const reach = FOLLOW_REACH * Math.max(body[RIGHT] - body[LEFT], body[HIGH] - body[LOW]);
  const [x, y] = [(body[LEFT] + body[RIGHT]) / 2, (body[LOW] + body[HIGH]) / 2];
  return [x - reach, y - reach / 2, x + reach, y + reach / 2];
}

/** Fit a rectangle of the world into a picture; the result turns world units into pixels. */
function fitView([left, low, right, high], yUp, width, height) {
  const scale = 0.92 * Math.min(width / (right - left), height / (high - low));
  const flip = yUp ? -1 : 1;
  const x = width / 2 - (scale * (left + right)) / 2;
  const y = height / 2 - (flip * scale * (low + high)) / 2;
  return { scale, flip, x: (worldX) => x + scale * worldX, y: (worldY) => y + flip * scale * worldY };
}

// -- the layers, in the order of the overlay: later ones lie above --

const LAYERS = {
  branches: { key: "7", isShown: false, isOfTrees: true, draw: drawBranches },
  "fat bounds": { key: "6", isShown: false, isOfTrees: true, draw: drawFatBounds },
  boxes: { key: "1", isShown: true, draw: drawBoxes },
  velocities: { key: "2", isShown: false, draw: drawVelocities },
  contacts: { key: "3", isShown: true, draw: drawContacts },
  collisions: { key: "4", isShown: true, draw: drawCollisions },
  names: { key: "5", isShown: false, draw: drawNames },
};
const ARROW_SECONDS = 0.1; // a velocity is drawn as the way of this time
const NORMAL_LENGTH = 12; // pixels
const FOLLOW_REACH = 12; // to the sides, compared with the followed body
const FAR = 1e5; // pixels
const CROSS = 3; // pixels, half of its width

function drawBranches(brush, view, frame, look) {
  for (const [left, low, right, high, depth, isMoving] of frame.trees.branches) {
    brush.strokeStyle = look.branches[isMoving];
    brush.globalAlpha = 0.7 ** depth;
    brush.strokeRect(...toPixels(view, left, low, right, high));
  }
  brush.globalAlpha = 1;
}

function drawFatBounds(brush, view, frame, look) {
  brush.strokeStyle = look.fat;
  for (const bounds of frame.trees.fat) brush.strokeRect(...toPixels(view, ...bounds));
}

function drawBoxes(brush, view, frame, look) {
  for (const body of frame.bodies.values()) {
    brush.strokeStyle = brush.fillStyle = look.bodies[body[KIND]];
    brush.beginPath();
    if (body.length > CORNERS) tracePolygon(brush, view, body.slice(CORNERS));
    else brush.rect(...toPixels(view, ...body.slice(LEFT, HIGH + 1)));
    brush.globalAlpha = 0.22;
    brush.fill();
    brush.globalAlpha = 1;
    brush.stroke();
  }
}

/** Trace the outline of a polygon: x and y of each corner, in world units. */
function tracePolygon(brush, view, corners) {
  for (let n = 0; n < corners.length; n += 2) {
    brush.lineTo(toPixel(view.x(corners[n])), toPixel(view.y(corners[n + 1])));
  }
  brush.closePath();
}

/** The corner, the width and the height of a box in pixels, each at least one. */
function toPixels(view, worldLeft, worldLow, worldRight, worldHigh) {
  const [left, right] = [view.x(worldLeft), view.x(worldRight)].map(toPixel);
  const [first, second] = [view.y(worldLow), view.y(worldHigh)].map(toPixel);
  return [left, Math.min(first, second), right - left || 1, Math.abs(second - first) || 1];
}

/** The middle of a pixel, where a line is one pixel wide; far away, where a canvas still counts. */
function toPixel(place) {
  return Math.round(Math.min(Math.max(place, -FAR), FAR)) + 0.5;
}

function drawVelocities(brush, view, frame, look) {
  for (const body of frame.bodies.values()) {
    const [x, y] = middleOf(body, view);
    const along = view.scale * ARROW_SECONDS;
    brush.strokeStyle = look.bodies[body[KIND]];
    drawLine(brush, x, y, x + along * body[SPEED_X], y + view.flip * along * body[SPEED_Y]);
  }
}

function drawContacts(brush, view, frame, look) {
  for (const [kind, worldX, worldY, normalX, normalY] of frame.contacts) {
    const [x, y] = [view.x(worldX), view.y(worldY)];
    brush.strokeStyle = look.contacts[kind];
    drawLine(brush, x - CROSS, y - CROSS, x + CROSS, y + CROSS);
    drawLine(brush, x - CROSS, y + CROSS, x + CROSS, y - CROSS);
    if (kind === 0) {
      drawLine(brush, x, y, x + NORMAL_LENGTH * normalX, y + view.flip * NORMAL_LENGTH * normalY);
    }
  }
}

function drawCollisions(brush, view, frame, look) {
  brush.strokeStyle = look.ink;
  for (const [, worldX, worldY, normalX, normalY] of frame.events) {
    if (worldX === undefined) continue; // begun and ended contacts have no place
    const [x, y] = [view.x(worldX), view.y(worldY)];
    brush.beginPath();
    brush.arc(x, y, 2 * CROSS, 0, 2 * Math.PI);
    brush.stroke();
    const [alongX, alongY] = [NORMAL_LENGTH * normalX, view.flip * NORMAL_LENGTH * normalY];
    drawLine(brush, x - alongX, y - alongY, x + alongX, y + alongY);
  }
}

function drawNames(brush, view, frame, look) {
  brush.fillStyle = look.ink;
  brush.font = "11px system-ui, sans-serif";
  brush.textAlign = "center";
  brush.textBaseline = "middle";
  for (const body of frame.bodies.values()) {
    brush.fillText(body[NAME], ...middleOf(body, view));
  }
}

function middleOf(body, view) {
  return [view.x((body[LEFT] + body[RIGHT]) / 2), view.y((body[LOW] + body[HIGH]) / 2)];
}

function drawLine(brush, x, y, toX, toY) {
  brush.beginPath();
  brush.moveTo(x, y);
  brush.lineTo(toX, toY);
  brush.stroke();
}

/** The colours on a dark ground, or darkened for a light one. */
function chooseLook(recording, isDark) {
  const suit = isDark ? (colour) => colour : darken;
  const [fat, ...branches] = recording.treeColours.map(suit);
  return {
    ground: isDark ? "#12141e" : "#fbfbfd",
    ink: isDark ? "#eceff8" : "#1c2030",
    bodies: recording.colours.map(suit),
    contacts: recording.contactColours.map(suit),
    fat,
    branches,
  };
}

function darken(colour) {
  const parts = [1, 3, 5].map((n) => Math.round(0.6 * parseInt(colour.slice(n, n + 2), 16)));
  return `rgb(${parts.join(",")})`;
}

// -- the screen --

const STYLE = `
  :root { color-scheme: light dark; }
  body { margin: 0; font: 14px system-ui, sans-serif; }
  .player { display: flex; flex-direction: column; height: 100vh; box-sizing: border-box; padding: 4px; }
  .player canvas { flex: 1 1 0; min-height: 0; width: 100%; touch-action: pan-y; }
  .player .row { display: flex; flex-wrap: wrap; gap: 4px 10px; align-items: center; padding: 4px; }
  .player input[type=range] { flex: 1 1 120px; }
  .player button, .player select { min-width: 36px; min-height: 32px; font: inherit; }
  .player .events { height: 2.6em; overflow: auto; margin: 0; padding: 0 4px; white-space: pre-wrap; font-size: 12px; }
`;
const SPEEDS = [0.1, 0.25, 0.5, 1, 2];
const KEYS_HELP = "space: play; left, right: a step; home, end; 1 to 7: layers";
const DRAG = 4; // pixels that a finger may move and still press

class RecordingScreen {
  constructor(parent, recording) {
    this.recording = recording;
    this.layers = layersOf(recording);
    this.shown = Object.fromEntries(this.layers.map((name) => [name, LAYERS[name].isShown]));
    this.frame = 0;
    this.time = 0; // seconds of the recording, between frames too
    this.isPlaying = false;
    this.build(parent);
    this.listen();
    this.seek(0);
  }

  build(parent) {
    this.root = addPart(parent, "main", { className: "player" });
    this.canvas = addPart(this.root, "canvas", { tabIndex: 0, title: KEYS_HELP });
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `A recording. ${KEYS_HELP}`);
    const controls = addPart(this.root, "div", { className: "row" });
    this.playButton = addPart(controls, "button", { onclick: () => this.toggle() });
    addPart(controls, "button", { textContent: "‹", title: "a step back", onclick: () => this.stepBy(-1) });
    addPart(controls, "button", { textContent: "›", title: "a step on", onclick: () => this.stepBy(1) });
    this.slider = addPart(controls, "input", { type: "range", min: 0, max: this.last });
    this.slider.setAttribute("aria-label", "step");
    this.speed = addPart(controls, "select", { title: "speed" });
    for (const speed of SPEEDS) addPart(this.speed, "option", { value: speed, textContent: `${speed}×` });
    this.speed.value = 1;
    this.status = addPart(this.root, "div", { className: "row", id: "status" });
    const layers = addPart(this.root, "div", { className: "row" });
    this.boxes = {};
    for (const name of this.layers.toSorted((a, b) => LAYERS[a].key - LAYERS[b].key)) {
      const label = addPart(layers, "label", { title: `key ${LAYERS[name].key}` });
      this.boxes[name] = addPart(label, "input", { type: "checkbox", onchange: () => this.switchLayer(name) });
      label.append(` ${name}`);
    }
    this.events = addPart(this.root, "p", { className: "events", id: "events" });
  }

  listen() {
    this.slider.oninput = () => this.pauseAt(Number(this.slider.value));
    addEventListener("keydown", (event) => this.onKey(event));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    this.darkness = matchMedia("(prefers-color-scheme: dark)");
    this.darkness.addEventListener("change", () => this.draw());
    let from = null; // where a finger or the mouse went down
    this.canvas.onpointerdown = (event) => {
      from = { x: event.clientX, frame: this.frame, hasMoved: false };
      this.canvas.setPointerCapture(event.pointerId);
    };
    this.canvas.onpointermove = (event) => {
      if (from === null || Math.abs(event.clientX - from.x) < DRAG) return;
      from.hasMoved = true;
      const share = (event.clientX - from.x) / this.canvas.clientWidth;
      this.pauseAt(from.frame + Math.round(share * this.last));
    };
    this.canvas.onpointerup = () => {
      if (from !== null && !from.hasMoved) this.toggle();
      from = null;
    };
    this.canvas.onpointercancel = () => (from = null);
  }

  get last() {
    return this.recording.frames.length - 1;
  }

  onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === "SELECT") return;
    if (event.key === " " && event.target.matches("button, [type=checkbox]")) return; // it presses that
    const layer = this.layers.find((name) => LAYERS[name].key === event.key);
    const far = event.shiftKey ? 60 : 1;
    if (event.key === " ") this.toggle();
    else if (event.key === "ArrowLeft") this.stepBy(-far);
    else if (event.key === "ArrowRight") this.stepBy(far);
    else if (event.key === "Home") this.pauseAt(0);
    else if (event.key === "End") this.pauseAt(this.last);
    else if (layer !== undefined) this.switchLayer(layer);
    else return;
    event.preventDefault();
  }

  switchLayer(name) {
    this.shown[name] = !this.shown[name];
    this.draw();
  }

  stepBy(n) {
    this.pauseAt(this.frame + n);
  }

  pauseAt(n) {
    this.isPlaying = false;
    this.seek(n);
  }

  seek(n) {
    this.frame = Math.min(Math.max(n, 0), this.last);
    this.time = this.recording.frames[this.frame].time;
    this.draw();
  }

  /** Play or pause; at the end start again. */
  toggle() {
    if (!this.isPlaying && this.frame === this.last) this.seek(0);
    this.isPlaying = !this.isPlaying;
    this.draw();
    if (!this.isPlaying) return;
    let before = performance.now();
    const advance = (now) => {
      if (!this.isPlaying) return;
      // A hidden tab gets no pictures: it goes on where it was.
      this.time += (Number(this.speed.value) * Math.min(Math.max(now - before, 0), 100)) / 1000;
      before = now;
      this.frame = Math.max(frameAt(this.recording.frames, this.time), this.frame);
      this.isPlaying = this.frame < this.last;
      this.draw();
      requestAnimationFrame(advance);
    };
    requestAnimationFrame(advance);
  }

  draw() {
    const frame = this.recording.frames[this.frame];
    const look = chooseLook(this.recording, this.darkness.matches);
    const ratio = devicePixelRatio || 1;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    this.canvas.width = Math.round(width * ratio); // this also clears it
    this.canvas.height = Math.round(height * ratio);
    const brush = this.canvas.getContext("2d");
    brush.scale(ratio, ratio);
    brush.fillStyle = look.ground;
    brush.fillRect(0, 0, width, height);
    const view = fitView(viewOf(this.recording, frame), this.recording.yUp, width, height);
    for (const name of this.layers) {
      if (this.shown[name]) LAYERS[name].draw(brush, view, frame, look);
      this.boxes[name].checked = this.shown[name];
    }
    this.slider.value = this.frame;
    this.playButton.textContent = this.isPlaying ? "pause" : "play";
    this.status.textContent = describeFrame(this.recording, this.frame);
    this.events.textContent = frame.events.map(([text]) => text).join("\n");
  }
}

function addPart(parent, tag, properties) {
  const part = Object.assign(document.createElement(tag), properties);
  parent.append(part);
  return part;
}

/** Show the recording of the page; `#step=12` in the address begins there, paused. */
async function startPage() {
  addPart(document.head, "style", { textContent: STYLE });
  try {
    const recording = await unpackRecording(document.getElementById("recording").textContent);
    const screen = new RecordingScreen(document.body, recording);
    const asked = /step=(\d+)/.exec(location.hash);
    if (asked) screen.pauseAt(recording.frames.findIndex((frame) => frame.step === Number(asked[1])));
    else if (!matchMedia("(prefers-reduced-motion: reduce)").matches) playWhenSeen(screen);
  } catch (error) {
    addPart(document.body, "p", { id: "status", textContent: `The recording cannot be shown: ${error.message}` });
  }
}

/** Begin to play when the canvas comes into sight: a page of others may hold it far below. */
function playWhenSeen(screen) {
  const watch = ([entry], observer) => {
    if (!entry.isIntersecting) return;
    observer.disconnect();
    if (screen.frame === 0 && !screen.isPlaying) screen.toggle();
  };
  new IntersectionObserver(watch, { threshold: 0.5 }).observe(screen.canvas);
}

if (typeof module !== "undefined") {
  module.exports = { unpackRecording, readRecording, frameAt, describeFrame, viewOf, fitView, chooseLook, layersOf, LAYERS };
}
