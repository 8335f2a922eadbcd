// What an error report says of a page whose test failed.
() => ({
  address: location.href,
  views: [...document.querySelectorAll('.flatviz')].map((e) => ({ ...e.dataset, words: e.innerText.slice(0, 300) })),
  status: [...document.querySelectorAll('.widget-label')].map((e) => e.textContent),
  kernel: window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel?.status,
  cells: window.jupyterapp?.shell?.currentWidget?.content?.widgets?.map((c) => c.model.executionCount ?? null),
  page: document.body?.innerText.slice(0, 500),
})
