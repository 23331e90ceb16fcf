"""The style sheet and the script of the page, which work on what `page.py` writes.

Without the script, links of lines and boxes lead to each other, and `:target` shows where one is.
With it, what is chosen is marked on both sides, and arrow keys go along the wires.
"""

from __future__ import annotations

from relaxscript.errors.styles import MONOSPACE

__all__ = ["PAGE_RULES", "PAGE_SCRIPT"]

_LIGHT = """
:root { color-scheme: light dark; }
body { background: #ffffff; color: #1c2127; }
header, .panel > h2, footer { background: #f5f7f9; border-color: #d9dee4; color: #3d4752; }
.panel { border-color: #d9dee4; }
.place { color: #8c97a3; }
.line.linked:hover { background: #eef3fb; }
.line.chosen, .line:target { background: #fff1bf; }
.mark-error .place { color: #b3261e; font-weight: 700; }
.mark-warning .place { color: #8a5a00; font-weight: 700; }
a { color: #0b57d0; }
.relaxscript-graph a:target .box { stroke: #0b57d0; stroke-width: 2.6; }
"""
_DARK = """
body { background: #14171b; color: #e3e6ea; }
header, .panel > h2, footer { background: #1c2126; border-color: #2f363d; color: #c3cad2; }
.panel { border-color: #2f363d; }
.place { color: #77828e; }
.line.linked:hover { background: #1d2733; }
.line.chosen, .line:target { background: #4a3c08; }
.mark-error .place { color: #ff8a80; }
.mark-warning .place { color: #ffcf70; }
a { color: #8ab4f8; }
.relaxscript-graph a:target .box { stroke: #8ab4f8; }
"""
PAGE_RULES = f"""
* {{ box-sizing: border-box; }}
html, body {{ height: 100%; margin: 0; }}
body {{ display: flex; flex-direction: column; font: 13px/1.45 system-ui, sans-serif; }}
header {{ padding: 8px 16px; border-bottom: 1px solid; display: flex; gap: 16px; flex-wrap: wrap; }}
header h1 {{ font-size: 14px; margin: 0; }}
header p {{ margin: 0; }}
#said {{ margin-left: auto; font: 12px/1.55 {MONOSPACE}; }}
main {{ flex: 1; min-height: 0; display: grid; }}
main {{ grid-template-columns: minmax(0, 46fr) minmax(0, 54fr); }}
.panel {{ min-height: 0; display: flex; flex-direction: column; border-right: 1px solid; }}
.panel > h2 {{ margin: 0; padding: 4px 16px; font-size: 11px; border-bottom: 1px solid; }}
.panel > h2 {{ text-transform: uppercase; letter-spacing: 0.06em; }}
.scroll {{ flex: 1; overflow: auto; }}
.script {{ margin: 0; padding: 8px 0; width: max-content; min-width: 100%; }}
.script {{ font: 12px/1.55 {MONOSPACE}; }}
.line {{ display: block; padding-right: 16px; white-space: pre; }}
.line.linked {{ cursor: pointer; }}
.place {{ display: inline-block; width: 4.5em; padding-right: 1em; text-align: right; }}
.place {{ text-decoration: none; user-select: none; }}
.drawing {{ padding: 8px; }}
.drawing svg {{ display: block; margin: 0 auto; }}
.relaxscript-graph a {{ cursor: pointer; }}
.place:focus-visible {{ outline: 2px solid #0b57d0; outline-offset: -2px; }}
footer {{ border-top: 1px solid; max-height: 34vh; overflow: auto; padding: 6px 16px; }}
footer summary {{ cursor: pointer; font-weight: 600; }}
{_LIGHT}@media (max-width: 800px) {{ main {{ display: block; overflow: auto; }} }}
@media (prefers-color-scheme: dark) {{ {_DARK} }}
"""

PAGE_SCRIPT = """
"use strict";
(function () {
  const said = document.getElementById("said");
  const lines = new Map(), nodes = new Map(), order = [];
  document.querySelectorAll(".line").forEach(l => lines.set(l.dataset.number, l));
  document.querySelectorAll(".relaxscript-graph a[data-line]").forEach(a => {
    if (a.id) { nodes.set(a.dataset.item, a); order.push(a); }
  });
  const next = new Map(), before = new Map();
  document.querySelectorAll("[data-last]").forEach(g => {
    const from = g.dataset.value, to = g.dataset.last;
    next.set(from, (next.get(from) || []).concat(to));
    before.set(to, (before.get(to) || []).concat(from));
  });
  function clear() {
    document.querySelectorAll(".chosen").forEach(e => e.classList.remove("chosen"));
    said.textContent = "";
  }
  function choose(item, scrolls) {
    const node = nodes.get(item);
    if (!node) return;
    clear();
    node.classList.add("chosen");
    const first = Number(node.dataset.line), last = Number(node.dataset.end || first);
    for (let n = first; n <= last; n++) {
      const line = lines.get(String(n));
      if (line) line.classList.add("chosen");
    }
    const title = node.querySelector("title");
    said.textContent = title ? title.textContent.split("\\n")[0].slice(0, 120) : "";
    const line = lines.get(String(first));
    if (line && scrolls !== "graph") line.scrollIntoView({ block: "nearest" });
    if (scrolls !== "script") node.scrollIntoView({ block: "nearest", inline: "nearest" });
    history.replaceState(null, "", "#n" + item);
  }
  document.querySelectorAll(".relaxscript-graph a[data-line]").forEach(a => {
    a.addEventListener("click", event => {
      event.preventDefault();
      choose(a.dataset.item, a.id ? "script" : "");
      const own = nodes.get(a.dataset.item);
      if (own) own.focus({ preventScroll: true });
    });
    a.addEventListener("keydown", event => {
      const item = a.dataset.item;
      const along = { ArrowDown: next.get(item), ArrowUp: before.get(item) }[event.key];
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      let target = null;
      if (along) target = along.map(k => nodes.get(k)).find(Boolean);
      else if (step) target = order[order.indexOf(nodes.get(item)) + step];
      else if (event.key === "Escape") clear();
      if (!target) return;
      event.preventDefault();
      target.focus({ preventScroll: true });
      choose(target.dataset.item);
    });
  });
  document.querySelectorAll(".line.linked").forEach(l => {
    l.addEventListener("click", event => {
      if (String(window.getSelection())) return;
      event.preventDefault();
      choose(l.dataset.item, "graph");
    });
  });
  document.querySelectorAll("footer a").forEach(a => {
    a.addEventListener("click", () => {
      const line = lines.get(a.hash.slice(2));
      if (line && line.dataset.item) choose(line.dataset.item);
    });
  });
  const whole = document.querySelector(".relaxscript-graph a.cluster");
  if (location.hash.startsWith("#n")) choose(location.hash.slice(2));
  else if (whole && !location.hash) {
    const line = lines.get(whole.dataset.line);
    if (line) line.scrollIntoView({ block: "start" });
  }
})();
"""
