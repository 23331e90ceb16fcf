// What is found is put in the order in which one looks for things: the page of a name before what mentions it.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, , , , score]) => {
    if (/^(operators|passes|diagnostics)\/(?!index|family-)/.test(page)) return score + 20;
    return /RESULTS$|^CHANGELOG$/.test(page) ? score - 15 : score;
  },
};
