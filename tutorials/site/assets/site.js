// Sphinx marks the words that were searched for by a frame around each, for which it asks where they are drawn. What
// drawings say without drawing it, as their titles do, is nowhere: without this, marking would end there by an error.
document
  .querySelectorAll("svg title, svg desc, svg style")
  .forEach((element) => element.classList.add("nohighlight"));
