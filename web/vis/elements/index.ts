// The custom elements, by their names in pages.

import { HistogramPanel } from "./histogram.js";
import { ImageGrid } from "./image_grid.js";
import { LineChart } from "./line_chart.js";
import { AttentionMapPanel, ConfusionMatrixPanel } from "./matrix_panels.js";
import { ProfilePanel } from "./profile_panel.js";
import { Projector } from "./projector.js";
import { SummaryTable } from "./summary_table.js";
import { TapeGraphPanel } from "./tape_graph_panel.js";

const kElements: Readonly<Record<string, CustomElementConstructor>> = {
  "eg-attention-map": AttentionMapPanel,
  "eg-confusion-matrix": ConfusionMatrixPanel,
  "eg-histogram": HistogramPanel,
  "eg-image-grid": ImageGrid,
  "eg-line-chart": LineChart,
  "eg-profile": ProfilePanel,
  "eg-projector": Projector,
  "eg-summary-table": SummaryTable,
  "eg-tape-graph": TapeGraphPanel,
};

/** Defines those elements that the page does not have yet. */
export function define(): void {
  for (const [name, panel] of Object.entries(kElements))
    if (customElements.get(name) === undefined) customElements.define(name, panel);
}
