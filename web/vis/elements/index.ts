// The panels by the names of their elements. This file is loaded with the first element of a page.

import { HistogramPanel } from "./histogram.js";
import { ImageGrid } from "./image_grid.js";
import { LineChart } from "./line_chart.js";
import { AttentionMapPanel, ConfusionMatrixPanel } from "./matrix_panels.js";
import type { PanelName } from "./page_elements.js";
import type { Panel } from "./panel.js";
import { ProfilePanel } from "./profile_panel.js";
import { Projector } from "./projector.js";
import { SummaryTable } from "./summary_table.js";
import { TapeGraphPanel } from "./tape_graph_panel.js";

const kPanels = {
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

/** Creates the panel of an element. */
export function panelOf(host: HTMLElement, name: PanelName): Panel {
  return new kPanels[name](host);
}
