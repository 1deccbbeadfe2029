"use strict";
// Adds buttons that copy a change. Where the browser gives no clipboard, they select the lines.
(() => {
  for (const button of document.querySelectorAll("button[data-copied]")) {
    const label = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(button.dataset.copied);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(button.parentElement.querySelector(".change"));
        button.textContent = "Selected: press Ctrl+C";
      }
      setTimeout(() => { button.textContent = label; }, 2000);
    });
  }
})();

// Adds a read-out to the curves, one moment of the run in all of them at once, and a view that is
// moved and narrowed. The page is complete without it.
(() => {
  const box = document.getElementById("curves");
  const source = document.getElementById("curve-points");
  if (!box || !source) return;
  const data = JSON.parse(source.textContent);
  const figures = [...box.querySelectorAll(".curve")];
  const plots = [...box.querySelectorAll("svg.timed")];
  if (plots.length === 0 || !("from" in data)) return;
  const span = data.end - data.start;
  const view = { start: data.start, end: data.end };
  const percent = (thousandths) => (thousandths / 10).toFixed(0) + " %";
  const xOf = (t) => ((t - data.start) / span) * 1000;

  // Seconds of a short run, minutes and seconds of a long one.
  function clock(seconds) {
    if (span <= 180) return seconds.toFixed(1) + " s";
    const whole = Math.round(seconds);
    return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  }

  // The point nearest in time, by bisection; null where the curve has ended or not begun.
  function nearest(points, t) {
    let low = 0;
    let high = points.length - 1;
    if (high < 0) return null;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (points[middle][0] < t) low = middle + 1;
      else high = middle;
    }
    if (low > 0 && t - points[low - 1][0] < points[low][0] - t) low -= 1;
    return Math.abs(points[low][0] - t) <= span / 50 ? points[low] : null;
  }

  function mark(path) {
    for (const figure of figures) {
      figure.querySelector(".cursor").setAttribute("d", path);
      figure.querySelector(".cursor").setAttribute("visibility", "visible");
    }
  }

  function show(t) {
    t = Math.min(Math.max(t, view.start), view.end);
    mark(`M${xOf(t)} 0V100`);
    const spoken = [];
    figures.forEach((figure, i) => {
      const point = nearest(data.curves[i], t);
      let text = "";
      if (point) {
        const [at, mean, low, high] = point;
        text = `${clock(at - data.start)}: ${percent(mean)}`;
        if (high > low) text += ` (${percent(low)} to ${percent(high)})`;
        spoken.push(`${figure.querySelector("strong").textContent} ${percent(mean)}`);
      }
      figure.querySelector(".readout").textContent = text;
    });
    const seconds = t - data.start;
    box.setAttribute("aria-valuenow", seconds.toFixed(1));
    box.setAttribute("aria-valuetext", `${clock(seconds)}: ${spoken.join(", ")}`);
  }

  function hide() {
    for (const figure of figures) {
      figure.querySelector(".cursor").setAttribute("visibility", "hidden");
      figure.querySelector(".readout").textContent = "";
    }
  }

  // The curves from all points there are: what the page drew is enough for the whole alone.
  let detailed = false;
  function draw() {
    if (detailed) return;
    detailed = true;
    figures.forEach((figure, i) => {
      const points = data.curves[i];
      if (points.length <= 480) return;
      const line = (at) => points.map((p) => `${xOf(p[0]).toFixed(2)} ${100 - p[at] / 10}`);
      const back = (at) => line(at).reverse().join("L");
      figure.querySelector(".line").setAttribute("d", "M" + line(1).join("L"));
      figure.querySelector(".band").setAttribute("d", `M${line(3).join("L")}L${back(2)}Z`);
      figure.querySelector(".fill").setAttribute(
        "d", `M${line(1).join("L")}L${xOf(points.at(-1)[0])} 100L${xOf(points[0][0])} 100Z`);
    });
  }

  function label() {
    const axis = box.querySelector(".x-axis svg");
    const width = view.end - view.start;
    const power = 10 ** Math.floor(Math.log10(width / 6));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= width / 6);
    const unit = width > 3 * 3600 ? [3600, "h"] : width > 180 ? [60, "min"] : [1, "s"];
    axis.replaceChildren();
    for (let t = Math.ceil((view.start - data.start) / step) * step;
         t <= view.end - data.start + step / 1e6; t += step) {
      const text = document.createElementNS(axis.namespaceURI, "text");
      const at = (t + data.start - view.start) / width;
      text.setAttribute("x", at * 100 + "%");
      text.setAttribute("y", 13);
      text.setAttribute("text-anchor", at < 0.02 ? "start" : at > 0.96 ? "end" : "middle");
      text.textContent = `${+(t / unit[0]).toPrecision(6)} ${unit[1]}`;
      axis.append(text);
    }
  }

  // Whatever is asked for, within the run and not narrower than a few points.
  function look(start, end) {
    const width = Math.min(Math.max(end - start, span / 2000), data.to - data.from);
    view.start = Math.min(Math.max(start, data.from), data.to - width);
    view.end = view.start + width;
    if (width < span) draw();
    for (const svg of plots) {
      svg.setAttribute("viewBox", `${xOf(view.start)} 0 ${(width / span) * 1000} 100`);
    }
    for (const button of document.querySelectorAll("[data-view=start-up]")) {
      const shown = !folded();
      button.setAttribute("aria-pressed", shown);
      button.textContent = shown ? "Fold them" : "Show them";
    }
    box.setAttribute("aria-valuemin", (view.start - data.start).toFixed(1));
    box.setAttribute("aria-valuemax", (view.end - data.start).toFixed(1));
    label();
  }

  const folded = () => view.start >= data.start && view.end <= data.end;
  const now = () => data.start + Number(box.getAttribute("aria-valuenow"));
  function zoom(factor) {
    const inside = now() > view.start && now() < view.end;
    const middle = inside ? now() : (view.start + view.end) / 2;
    look(middle - (middle - view.start) * factor, middle + (view.end - middle) * factor);
  }
  const views = {
    in: () => zoom(0.5),
    out: () => zoom(2),
    all: () => look(data.start, data.end),
    "start-up": () => (folded() ? look(data.from, data.to) : look(data.start, data.end)),
  };
  for (const button of document.querySelectorAll("[data-view]")) {
    button.hidden = false;
    button.parentElement.hidden = false;
    button.addEventListener("click", views[button.dataset.view]);
  }

  const timeAt = (event) => {
    const area = plots[0].getBoundingClientRect();
    return view.start + ((event.clientX - area.left) / area.width) * (view.end - view.start);
  };
  let dragged = null; // where a drag began
  box.addEventListener("pointerdown", (event) => {
    dragged = { t: timeAt(event), x: event.clientX };
  });
  box.addEventListener("pointermove", (event) => {
    show(timeAt(event));
    if (dragged && event.buttons) mark(`M${xOf(dragged.t)} 0V100M${xOf(timeAt(event))} 0V100`);
  });
  box.addEventListener("pointerup", (event) => {
    const from = dragged;
    dragged = null;
    if (!from || Math.abs(event.clientX - from.x) < 8) return;
    const ends = [from.t, timeAt(event)].sort((a, b) => a - b);
    look(...ends);
    hide();
  });
  box.addEventListener("pointerleave", () => {
    dragged = null;
    if (document.activeElement !== box) hide();
  });
  box.addEventListener("blur", hide);
  box.addEventListener("keydown", (event) => {
    const zooms = { "+": views.in, "=": views.in, "-": views.out, 0: views.all };
    if (event.key in zooms && !event.ctrlKey && !event.metaKey) return zooms[event.key]();
    const width = view.end - view.start;
    const step = event.shiftKey ? width / 20 : width / 200;
    const moves = {
      ArrowRight: now() + step, ArrowUp: now() + step, ArrowLeft: now() - step,
      ArrowDown: now() - step, PageUp: now() + width / 10, PageDown: now() - width / 10,
      Home: view.start, End: view.end,
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    show(moves[event.key]);
  });
})();
