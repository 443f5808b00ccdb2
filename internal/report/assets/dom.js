// Small helpers around the document. Text is always set as text.

export const el = (name, props, ...children) => {
  const svg = /^(svg|g|rect|text|line|path|title)$/.test(name);
  const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (key in e && !svg && !key.startsWith("aria-") && key !== "list") e[key] = value;
    else e.setAttribute(key, value === true ? "" : value);
  }
  for (const c of children.flat(3)) {
    if (c !== null && c !== undefined && c !== false) e.append(c);
  }
  return e;
};

// section adds a part of the page and its link.
export const section = (id, title, lead, ...content) => {
  const s = el("section", { id, "aria-labelledby": id + "-h" }, el("h2", { id: id + "-h", textContent: title }), lead && el("p", { className: "lead" }, lead), ...content);
  document.getElementById("main").append(s);
  document.getElementById("nav").append(el("a", { href: "#" + id, textContent: title }));
  return s;
};

export const none = (text) => el("p", { className: "none", textContent: text });

// toggles is a group of buttons, one of them chosen.
export const toggles = (label, options, chosen, choose) => {
  const buttons = options.map(([value, text]) =>
    el("button", {
      type: "button", textContent: text, "aria-pressed": String(value === chosen),
      onclick: (ev) => {
        for (const b of buttons) b.setAttribute("aria-pressed", String(b === ev.currentTarget));
        choose(value);
      },
    }));
  return el("span", { className: "group", role: "group", "aria-label": label }, buttons);
};

const box = () => document.getElementById("tip");

// tip shows a text near a point of the window.
export const tip = (text, x, y) => {
  const t = box();
  t.textContent = text;
  t.hidden = false;
  const w = t.offsetWidth, h = t.offsetHeight;
  t.style.left = Math.max(4, Math.min(innerWidth - w - 8, x + 14)) + "px";
  t.style.top = Math.max(4, y + h + 26 > innerHeight ? y - h - 12 : y + 16) + "px";
};

export const untip = () => { box().hidden = true; };

// colour reads a colour of the style sheet.
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

// prepare sizes a canvas for the screen and returns its context in CSS pixels.
export const prepare = (canvas, width, height) => {
  const scale = Math.max(1, window.devicePixelRatio || 1);
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  const g = canvas.getContext("2d");
  g.setTransform(scale, 0, 0, scale, 0, 0);
  return g;
};

// repaint is called when colours have changed.
export const repaints = [];
export const repaint = () => { for (const f of repaints) f(); };
