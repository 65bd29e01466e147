// The style of all panels. Pages change it by these custom properties; colors are pairs for light and dark pages (light-dark()).

/** The number of colors of series. */
export const kSeriesColors = 6;

/** The style sheet of every panel. */
export const kStyle = `
:host {
  display: block;
  color-scheme: inherit;
  font: var(--eg-font, 14px / 1.4 system-ui, sans-serif);
  color: var(--eg-text, light-dark(#1b1e27, #e9ebf2));
  --text: var(--eg-text, light-dark(#1b1e27, #e9ebf2));
  --dim: var(--eg-dim, light-dark(#565c6d, #a7aebf));
  --line: var(--eg-line, light-dark(#d9dce5, #363b49));
  --surface: var(--eg-surface, light-dark(#ffffff, #1d2029));
  --accent: var(--eg-accent, light-dark(#2f5bea, #86a4ff));
  --series-1: var(--eg-series-1, light-dark(#2f5bea, #86a4ff));
  --series-2: var(--eg-series-2, light-dark(#c2410c, #ffa066));
  --series-3: var(--eg-series-3, light-dark(#187a43, #5fd394));
  --series-4: var(--eg-series-4, light-dark(#8b3fc4, #cf9bff));
  --series-5: var(--eg-series-5, light-dark(#0f7490, #5cc8e0));
  --series-6: var(--eg-series-6, light-dark(#a61e4d, #ff8fb0));
}
:host([hidden]), [hidden] { display: none !important; }
figure {
  margin: 0;
  padding: 12px;
  border: 1px solid var(--line);
  border-radius: 8px;
  background: var(--surface);
}
figcaption { font-weight: 600; margin-block-end: 8px; overflow-wrap: anywhere; }
.controls { display: flex; flex-wrap: wrap; gap: 4px 16px; margin-block: 8px; color: var(--dim); }
.controls:not(:has(> :not([hidden]))) { display: none; }
.controls label { display: inline-flex; align-items: center; gap: 6px; min-block-size: 24px; }
select, input { font: inherit; color: inherit; accent-color: var(--accent); }
select { background: var(--surface); border: 1px solid var(--dim); border-radius: 4px; min-block-size: 24px; max-inline-size: 100%; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
details { margin-block-start: 8px; color: var(--dim); }
summary { cursor: pointer; min-block-size: 24px; }
.scroll { overflow: auto; max-block-size: 320px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; color: var(--text); }
caption { text-align: start; white-space: normal; max-inline-size: 34ch; color: var(--dim); padding-block-end: 4px; }
th, td { padding: 2px 10px 2px 0; text-align: end; font-weight: normal; white-space: nowrap; }
thead th { color: var(--dim); border-block-end: 1px solid var(--line); }
th:first-child { text-align: start; }
th:last-child, td:last-child { padding-inline-end: 0; }
.empty { color: var(--dim); margin: 0; }
.probe { position: absolute; visibility: hidden; transition: color 1ms; color: var(--text); }
`;
