// SPDX-License-Identifier: Apache-2.0

// What a test wants to know of a page. WCAG 2.2, 1.4.3: text needs a contrast
// of 4.5 to what is behind it.
(() => {
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b]
    .map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const opaque = (colour) => { const c = channels(colour); return c.length < 4 || c[3] === 1; };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (opaque(colour)) return colour;
    }
    return "none";
  };
  const contrast = (a, b) => {
    const [dark, light] = [luminance(channels(a)), luminance(channels(b))].sort((x, y) => x - y);
    return (light + 0.05) / (dark + 0.05);
  };
  const faint = [];
  let texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    if (text === "") continue;
    texts++;
    const element = walker.currentNode.parentElement;
    const front = getComputedStyle(element).color;
    const back = behind(element);
    if (back === "none" || contrast(front, back) < 4.5) faint.push(`${text.slice(0, 40)}: ${front} on ${back}`);
  }
  const all = (selector) => [...document.querySelectorAll(selector)];
  return {
    Title: document.title,
    Lang: document.documentElement.lang,
    Width: document.documentElement.scrollWidth,
    Inner: window.innerWidth,
    Headings: all("h1, h2, h3, h4").map((h) => Number(h.tagName[1])),
    Tables: all("table").length,
    NoCaption: all("table").filter((t) => !t.caption || t.caption.textContent.trim() === "").length,
    NoScope: all("th").filter((h) => !h.scope).length,
    Scripts: document.scripts.length,
    Styled: getComputedStyle(document.body).maxWidth !== "none",
    Texts: texts,
    Faint: faint,
    Dark: luminance(channels(behind(document.body))) < 0.2,
  };
})()
