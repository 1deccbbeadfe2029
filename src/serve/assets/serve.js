"use strict";
// The list: a search over what its rows say.
(() => {
  const search = document.getElementById("search");
  if (!search) return;
  const rows = [...document.querySelectorAll("#runs tbody tr")];
  const found = document.getElementById("found");
  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) shown += 1;
    }
    found.textContent = shown === rows.length ? `${shown} runs` : `${shown} of ${rows.length} runs`;
  }
  search.addEventListener("input", filter);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
  if (search.value) filter();
})();

// The jobs that go on, as the server tells of them each second.
(() => {
  const live = document.getElementById("live");
  if (!live) return;
  const jobs = document.getElementById("jobs");
  const kKept = 300; // values of a curve, one a second
  const pasts = new Map(); // of each job's values
  const percent = (ratio) => `${(100 * ratio).toFixed(0)} %`;
  const isThere = (reading) => typeof reading === "number";

  function element(name, className, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function spark(label, values, className) {
    const row = element("div", `spark ${className}`);
    row.append(element("span", "", label));
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", `0 0 ${kKept} 100`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    const path = document.createElementNS(svg.namespaceURI, "path");
    const from = kKept - values.length;
    let line = "";
    let command = "M";
    values.forEach((value, i) => {
      if (!isThere(value)) { command = "M"; return; }
      line += `${command}${from + i} ${(98 - 96 * Math.min(value, 1)).toFixed(1)}`;
      command = "L";
    });
    path.setAttribute("d", line);
    svg.append(path);
    const last = values.at(-1);
    row.append(svg, element("span", "now", isThere(last) ? percent(last) : "-"));
    return row;
  }

  function says(job) {
    const parts = [job.state];
    if (isThere(job.step_s)) parts.push(`${(1000 * job.step_s).toPrecision(3)} ms a step`);
    if (isThere(job.samples_per_s)) parts.push(`${job.samples_per_s.toPrecision(4)} samples/s`);
    if (isThere(job.cpu_cores)) {
      const allowed = isThere(job.cores_allowed) ? ` of ${+job.cores_allowed.toFixed(1)}` : "";
      parts.push(`${job.cpu_cores.toFixed(1)}${allowed} CPU cores`);
    }
    if (job.ranks > 1) parts.push(`${job.ranks} ranks`);
    if (job.emulated) parts.push("emulated GPU");
    return parts.join(", ");
  }

  function remember(key, value) {
    const values = pasts.get(key) ?? [];
    values.push(isThere(value) ? value : null);
    if (values.length > kKept) values.shift();
    pasts.set(key, values);
    return values;
  }

  function show(job) {
    const box = element("div", "job");
    const head = element("p");
    const name = element("strong", "", job.run.split("/").at(-1));
    head.append(name, " ", element("span", "command", job.command));
    box.append(head, element("p", "says", says(job)));
    for (const gpu of job.gpus) {
      const values = remember(`${job.run} ${gpu.index}`, gpu.utilization_ratio);
      box.append(spark(`GPU ${gpu.index}`, values, ""));
    }
    box.append(spark("waits for data", remember(`${job.run} waits`, job.input_wait), "waits"));
    return box;
  }

  const stream = new EventSource("/api/live");
  stream.onmessage = (event) => {
    const told = JSON.parse(event.data);
    live.hidden = told.jobs.length === 0;
    jobs.replaceChildren(...told.jobs.map(show));
  };
})();

// Charts of one run or of several over each other.
(() => {
  const charts = document.getElementById("charts");
  if (!charts || typeof Dygraph === "undefined") return;
  const runs = [...document.querySelectorAll("#chosen [data-run]")].map((li) => li.dataset.run);
  const select = document.getElementById("metric");
  const sinceTraining = document.getElementById("since-training");
  const kFirst = ["gpu.utilization_ratio", "training.input_wait_ratio", "training.step_s",
    "job.cpu_cores"];
  const shown = new Map(); // charts by metric
  const metrics = new Map(); // what the runs have, by name
  let view = null; // [from, to] that is looked at; null: all

  Dygraph.PLUGINS = Dygraph.PLUGINS.filter((plugin) => plugin !== Dygraph.Plugins.Legend);
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // Of values up to `largest`: a factor, and the unit's name.
  function unitOf(unit, largest) {
    if (unit === "ratio") return [100, "%"];
    if (!unit.startsWith("bytes")) return [1, unit];
    const rest = unit.slice(5);
    if (largest >= 1e9) return [1e-9, "GB" + rest];
    if (largest >= 1e6) return [1e-6, "MB" + rest];
    return largest >= 1e3 ? [1e-3, "kB" + rest] : [1, unit];
  }

  function address(kind, metric) {
    const query = new URLSearchParams();
    for (const run of runs) query.append("run", run);
    query.set("metric", metric);
    if (sinceTraining.checked) query.set("since", "training");
    if (view) {
      query.set("from", view[0]);
      query.set("to", view[1]);
    }
    query.set("points", Math.max(200, Math.min(charts.clientWidth, 1600)));
    return `/api/series${kind}?${query}`;
  }

  const nameOf = (series) => (runs.length > 1 ? `${series.run} ` : "") + series.subject;

  function rowsOf(data, factor) {
    return data.t_s.map((t, i) => [t, ...data.series.map((series) =>
      series.mean[i] === null ? [null, null, null]
        : [series.min[i] * factor, series.mean[i] * factor, series.max[i] * factor])]);
  }

  // What each curve is, and at a time its values. dygraphs' own legend sets styles in attributes,
  // which the pages' policy forbids.
  function fillLegend(chart, t, points) {
    const parts = t === undefined ? [] : [[`${t.toFixed(1)} s`, ""]];
    chart.data.series.forEach((series, i) => {
      const point = (points ?? []).find((one) => one.name === chart.labels[i + 1]);
      const isThere = point && Number.isFinite(point.yval);
      const value = isThere ? ` ${point.yval.toPrecision(4)} ${chart.unit}` : "";
      parts.push([nameOf(series) + value, `series-${i % 8}`]);
    });
    chart.legend.replaceChildren(...parts.map(([text, name]) => {
      const span = document.createElement("span");
      span.textContent = text;
      span.className = name;
      return span;
    }));
  }

  async function load(chart) {
    const asked = ++chart.asked;
    const reply = await fetch(address("", chart.metric));
    if (asked !== chart.asked) return; // a later question is on its way
    if (!reply.ok) {
      chart.note.textContent = await reply.text();
      return;
    }
    const data = await reply.json();
    const largest = Math.max(0, ...data.series.flatMap((series) => series.max));
    const [factor, unit] = unitOf(data.unit, largest);
    chart.title.textContent = `${chart.metric}, ${unit}`;
    chart.note.textContent = metrics.get(chart.metric)?.description ?? "";
    const options = {
      file: rowsOf(data, factor),
      labels: ["t", ...data.series.map((series, i) => `${i + 1} ${nameOf(series)}`)],
      dateWindow: [data.from_s, data.to_s],
      colors: data.series.map((_, i) => style(`--series-${i % 8}`)),
      valueRange: [0, largest * factor * 1.05 || 1],
    };
    Object.assign(chart, { data, unit, labels: options.labels });
    fillLegend(chart);
    if (chart.graph) {
      chart.graph.updateOptions(options);
      align();
      return;
    }
    const { file, ...others } = options;
    chart.graph = new Dygraph(chart.area, file, {
      ...others, customBars: true, connectSeparatedPoints: false, fillAlpha: 0.2, strokeWidth: 1.5, gridLineColor: style("--line"),
      axisLineColor: style("--line"), animatedZooms: false, digitsAfterDecimal: 3,
      axes: { x: { axisLabelFormatter: (t) => `${+t.toPrecision(6)} s` } },
      zoomCallback: (from, to) => look(from, to),
      highlightCallback: (_event, t, points) => fillLegend(chart, t, points),
      unhighlightCallback: () => fillLegend(chart),
    });
    chart.area.graph = chart.graph; // for whoever looks at the page from its console
    align();
  }

  // Where all of it is looked at, each chart goes from the first sample of any to the last.
  function align() {
    const drawn = [...shown.values()].filter((chart) => chart.graph && chart.data);
    if (view || drawn.length === 0) return;
    const from = Math.min(...drawn.map((chart) => chart.data.whole_from_s));
    const to = Math.max(...drawn.map((chart) => chart.data.whole_to_s));
    for (const chart of drawn) chart.graph.updateOptions({ dateWindow: [from, to] });
  }

  // Every chart shows the same stretch, in as many points as it is wide.
  function look(from, to) {
    view = from === undefined ? null : [from, to];
    for (const chart of shown.values()) {
      for (const [kind, link] of Object.entries(chart.links)) {
        link.href = address(kind, chart.metric);
      }
      load(chart);
    }
  }

  function button(text, press) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", press);
    return made;
  }

  // What dygraphs drew, on the page's ground.
  function savePicture(chart) {
    const drawn = [...chart.area.querySelectorAll("canvas")];
    const canvas = document.createElement("canvas");
    canvas.width = drawn[0].width;
    canvas.height = drawn[0].height;
    const pen = canvas.getContext("2d");
    pen.fillStyle = style("--card");
    pen.fillRect(0, 0, canvas.width, canvas.height);
    for (const one of drawn) pen.drawImage(one, 0, 0);
    canvas.toBlob((blob) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = `${chart.metric}.png`;
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }

  function add(metric) {
    if (shown.has(metric)) return;
    const box = document.createElement("section");
    box.className = "card chart";
    const make = (name, className) => {
      const made = document.createElement(name);
      made.className = className;
      return made;
    };
    const chart = { metric, asked: 0, graph: null, title: make("h2", ""), links: {},
      legend: make("div", "legend"), area: make("div", "plot-area"), note: make("p", "note") };
    chart.title.textContent = metric;
    chart.area.setAttribute("role", "img");
    chart.area.setAttribute("aria-label", `${metric} over time; the CSV has its values`);
    const tools = make("p", "tools");
    for (const [kind, text] of [[".csv", "CSV"], [".svg", "SVG"], ["", "JSON"]]) {
      const link = make("a", "button");
      link.textContent = text;
      link.href = address(kind, metric);
      chart.links[kind] = link;
      tools.append(link);
    }
    tools.append(button("PNG", () => savePicture(chart)), button("Remove", () => {
      shown.delete(metric);
      box.remove();
    }));
    box.append(chart.title, tools, chart.legend, chart.area, chart.note);
    charts.append(box);
    shown.set(metric, chart);
    load(chart);
  }

  async function begin() {
    for (const run of runs) {
      const reply = await fetch(`/api/metrics?${new URLSearchParams({ run })}`);
      if (!reply.ok) continue;
      for (const metric of (await reply.json()).metrics) metrics.set(metric.name, metric);
    }
    for (const name of [...metrics.keys()].sort()) select.add(new Option(name, name));
    for (const name of kFirst) if (metrics.has(name)) add(name);
  }

  select.addEventListener("change", () => {
    if (select.value) add(select.value);
    select.value = "";
  });
  sinceTraining.addEventListener("change", () => look());
  document.getElementById("whole").addEventListener("click", () => look());
  begin();
})();
