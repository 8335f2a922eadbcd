var l=globalThis.flatvizFrontEnds??=new Map,p=t=>t.widget_manager.get_model(t.get("channel").replace("IPY_MODEL_",""));function h(t,n){return new Promise(
o=>{let e=(r,s)=>{r.kind===n&&(t.off("msg:custom",e),o({content:r,buffers:s}))};t.on("msg:custom",e),t.send({want:n})})}function d(t){let n=URL.
createObjectURL(new Blob([t],{type:"text/javascript"}));return import(n).finally(()=>URL.revokeObjectURL(n))}function u(t,n){if(!l.has(t)){let o=async()=>{
let{buffers:e}=await h(n,"front end"),[r,s]=e.map(a=>new TextDecoder().decode(a)),c=globalThis.Plotly,f=await d(`const module = { exports: {\
} };
${s}
export default module.exports;`);c&&(globalThis.Plotly=c);let{show:i}=await d(`${r}
export const { show } = flatvizExplorer;`);return{show:i,Plotly:f.default}};l.set(t,o().catch(e=>{throw l.delete(t),e}))}return l.get(t)}var b={async render({model:t,el:n}){let o=await p(t),e=document.createElement("div");n.textContent="This picture asks its kernel for its dat\
a: run the notebook.";let r,s=!1,c=!1,f=async()=>{if(!c){c=!0;try{let{Plotly:a}=await u(t.get("front"),o);for(;r&&!s;){let{data:g,layout:w,config:m}=JSON.
parse(r);r=void 0,e.isConnected||n.replaceChildren(e),await a.react(e,g,{...w,uirevision:"kept"},{...m,responsive:!0})}}catch(a){n.textContent=
`The picture could not be drawn: ${a}`}c=!1}},i=a=>{a.kind==="figure"&&(r=a.figure,f())};return o.on("msg:custom",i),o.send({want:"figure"}),
async()=>{s=!0,o.off("msg:custom",i),e.isConnected&&(await u(t.get("front"),o)).Plotly.purge(e)}}};export{b as default};
