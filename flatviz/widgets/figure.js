// A view of one figure, drawn again whenever its kernel changes it, the newest state only.
import { channelOf, frontEnd } from "./channel.js";

export default {
  async render({ model, el }) {
    const channel = await channelOf(model), plot = document.createElement("div");
    el.textContent = "This picture asks its kernel for its data: run the notebook.";
    let newest, gone = false, drawing = false;
    const draw = async () => {
      if (drawing) return;
      drawing = true;
      try {
        const { Plotly } = await frontEnd(model.get("front"), channel);
        while (newest && !gone) {
          const { data, layout, config } = JSON.parse(newest);
          newest = undefined;
          if (!plot.isConnected) el.replaceChildren(plot);
          await Plotly.react(plot, data, { ...layout, uirevision: "kept" }, { ...config, responsive: true });
        }
      } catch (error) {
        el.textContent = `The picture could not be drawn: ${error}`;
      }
      drawing = false;
    };
    const hear = (content) => {
      if (content.kind !== "figure") return;
      newest = content.figure;
      draw();
    };
    channel.on("msg:custom", hear);
    channel.send({ want: "figure" });
    return async () => {
      gone = true;
      channel.off("msg:custom", hear);
      if (plot.isConnected) (await frontEnd(model.get("front"), channel)).Plotly.purge(plot);
    };
  },
};
