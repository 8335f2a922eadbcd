// What the modules take from elsewhere: a script that Python writes before them, plotly.js, style sheets as text.
declare const METHOD_STYLES: Record<string, [label: string, light: string, dark: string, symbol: string]>;
declare var Plotly: any;
declare var flatvizFrontEnds: Map<string, any>;
declare module "*.css" { const text: string; export default text; }
