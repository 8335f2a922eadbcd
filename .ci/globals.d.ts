// What the modules take from elsewhere: a script that Python writes before them, plotly.js, the
// front ends that a notebook's page has loaded, style sheets as text.
declare const METHOD_STYLES: Record<
  string,
  [label: string, light: string, dark: string, symbol: string]
>;
declare var Plotly: import("../flatviz/pages/front/types.d.ts").Plotly;
declare var flatvizFrontEnds: Map<string, import("../flatviz/widgets/types.d.ts").FrontEnd>;
declare module "*.css" {
  const text: string;
  export default text;
}

// A figure of the site, and what its scripts share.
type SiteTrace = import("../flatviz/pages/front/types.d.ts").Trace;
interface SiteLayout extends Omit<
  import("../flatviz/pages/front/types.d.ts").PlotLayout,
  "template" | "height" | "legend" | "title"
> {
  template?: { layout?: { margin?: object; legend?: SiteLegend; font?: { color?: string } } };
  title?: { text?: string; pad?: object };
  legend?: SiteLegend;
  height: number;
  width?: number;
  autosize?: boolean;
  meta?: object;
  grid?: { columns?: number; rows?: number; xgap?: number; ygap?: number };
  updatemenus?: object[];
}
interface SiteLegend {
  orientation?: string;
  y?: number;
}
interface SiteFigure {
  data?: SiteTrace[];
  layout: SiteLayout;
}
declare var flatvizLayout: {
  widthNeeded(figure: SiteFigure): number;
  laidOut(figure: SiteFigure, width: number, most: number): SiteLayout;
};
declare var flatvizExplorer: typeof import("../flatviz/pages/front/start.js");
declare const katex: { render(tex: string, node: Element, how: object): void };
