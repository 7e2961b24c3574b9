/** Runs inside a page, for the audits: how well a colour stands out from what is behind it (WCAG 2). */
(() => {
  /** Remembers answers: a page has thousands of elements and few colours. */
  const remembering =
    (make, known = new Map()) =>
    (asked) => {
      if (!known.has(asked)) {
        known.set(asked, make(asked));
      }
      return known.get(asked);
    };
  const channels = remembering((color) => {
    const [red, green, blue, alpha = 1] = color.match(/[\d.]+/g).map(Number);
    return { red, green, blue, alpha };
  });
  const luminance = remembering(({ red, green, blue }) => {
    const linear = [red, green, blue].map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  });
  const contrast = (one, other) => {
    const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  /** The colour behind an element; where there is a gradient, the lightest and the darkest that it has. */
  const grounds = remembering((element) => {
    const { backgroundColor, backgroundImage } = getComputedStyle(element);
    const gradient = (backgroundImage.match(/rgba?\([^)]*\)/g) ?? []).map(channels);
    const drawn = gradient.filter(({ alpha }) => alpha === 1);
    const ground = channels(backgroundColor);
    if (ground.alpha === 1) {
      return [ground, ...drawn];
    }
    const { parentElement } = element;
    const behind = parentElement ? grounds(parentElement) : [channels('rgb(255, 255, 255)')];
    return [...behind, ...drawn];
  });
  /** What is too pale on some of its grounds, in words. */
  const paleness = (element, color, least, what) =>
    grounds(element)
      .map((ground) => contrast(channels(color), ground))
      .filter((ratio) => ratio < least)
      .map((ratio) => `${what} has a contrast of ${ratio.toFixed(2)}`);
  const hasText = (element) =>
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  return { paleness, hasText };
})();
