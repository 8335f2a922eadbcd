// The answers of the playground's engine to these questions.
async ([engine, ask, questions]) => {
  const load = (text) => import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  const [e, a] = await Promise.all([load(engine), load(ask)]);
  return questions.map((question) => a.answer(e, question));
}
