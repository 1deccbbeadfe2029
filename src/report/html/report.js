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

// Adds a read-out to the curves: one moment of the run, in all of them at once. The page is
// complete without it.
(() => {
  const box = document.getElementById("curves");
  const source = document.getElementById("curve-points");
  if (!box || !source) return;
  const data = JSON.parse(source.textContent);
  const figures = [...box.querySelectorAll(".curve")];
  const plot = figures[0].querySelector("svg");
  const span = data.end - data.start;
  const percent = (ratio) => (ratio * 100).toFixed(0) + " %";

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

  function show(t) {
    t = Math.min(Math.max(t, data.start), data.end);
    const x = ((t - data.start) / span) * 1000;
    const spoken = [];
    figures.forEach((figure, i) => {
      const cursor = figure.querySelector(".cursor");
      cursor.setAttribute("d", `M${x} 0V100`);
      cursor.setAttribute("visibility", "visible");
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

  box.addEventListener("pointermove", (event) => {
    const area = plot.getBoundingClientRect();
    show(data.start + ((event.clientX - area.left) / area.width) * span);
  });
  box.addEventListener("pointerleave", () => {
    if (document.activeElement !== box) hide();
  });
  box.addEventListener("blur", hide);
  box.addEventListener("keydown", (event) => {
    const now = data.start + Number(box.getAttribute("aria-valuenow"));
    const step = event.shiftKey ? span / 20 : span / 200;
    const moves = {
      ArrowRight: now + step, ArrowUp: now + step, ArrowLeft: now - step, ArrowDown: now - step,
      PageUp: now + span / 10, PageDown: now - span / 10, Home: data.start, End: data.end,
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    show(moves[event.key]);
  });
})();
