// Run every cell of the notebook in sight; the errors of its outputs.
async () => {
  const app = window.jupyterapp, panel = app.shell.currentWidget;
  await panel.context.ready;
  await panel.sessionContext.ready;
  await app.commands.execute('notebook:run-all-cells');
  return panel.content.widgets.filter((c) => c.model.type === 'code').flatMap((c) =>
    c.model.outputs.toJSON().filter((o) => o.output_type === 'error').map((o) => `${o.ename}: ${o.evalue}`));
}
