// What is to be told of a page that did not come to its end.
() => ({
  address: location.href,
  views: [...document.querySelectorAll('.flatviz')].map((e) => ({ ...e.dataset, words: e.innerText.slice(0, 300) })),
  status: [...document.querySelectorAll('.widget-label')].map((e) => e.textContent),
  kernel: window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel?.status,
  cells: window.jupyterapp?.shell?.currentWidget?.content?.widgets?.map((c) => c.model.executionCount ?? null),
  page: document.body?.innerText.slice(0, 500),
})
