// What the kernel prints when it runs this code.
async (code) => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  let out = '';
  const asked = kernel.requestExecute({ code, store_history: false });
  asked.onIOPub = (m) => { out += m.content.text ?? m.content.evalue ?? ''; };
  await asked.done;
  return out;
}
