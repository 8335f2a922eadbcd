performance.mark("flatviz-start");
const data = (id) => JSON.parse(document.getElementById(id).textContent);
const state = data("flatviz-start");
const model = { get: (k) => state[k], set: (k, v) => { state[k] = v; }, save_changes() {}, on() {}, off() {} };
const el = document.getElementById("explorer");
if (!globalThis.DecompressionStream) el.textContent = "The pictures on this page need a browser of 2023 or later.";
const inflated = async (id) => {
  const stream = new Blob([bytesOf(data(id))]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};
const [index, planes] = await Promise.all([inflated("flatviz-index"), inflated("flatviz-records")]);
const bundle = { index: JSON.parse(new TextDecoder().decode(index)), buffer: joined(planes) };
show({ Plotly: globalThis.Plotly, model, el, bundle, hash: true });
