import * as z from 'zod';

/** What of a page does not fit, is faint (WCAG AA: 4.5), has no name, or is too small for a finger. */
export const inspectionSchema = z.object({
  overflow: z.array(z.string()),
  faint: z.array(z.string()),
  unnamed: z.array(z.string()),
  small: z.array(z.string()),
});

/** Runs in the page. A text, since it is a program of the browser's world. */
export const INSPECT = `(() => {
  const all = [...document.querySelectorAll('body *')];
  const seen = all.filter((element) => element.checkVisibility() && element.getClientRects().length > 0);
  const width = document.documentElement.clientWidth;
  const name = (element) => element.tagName.toLowerCase() + '.' + element.className + ' ' + (element.textContent || '').trim().slice(0, 30);
  const rgb = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const luminance = (text) => {
    const [r, g, b] = rgb(text).map((value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      const alpha = rgb(colour)[3];
      if (alpha === undefined || alpha > 0) return colour;
    }
    return 'rgb(255,255,255)';
  };
  const ratio = (element) => {
    const [light, dark] = [luminance(getComputedStyle(element).color), luminance(ground(element))].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const texts = seen.filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== ''));
  const controls = seen.filter((element) => element.matches('button, textarea, summary'));
  return {
    overflow: seen.filter((element) => element.getBoundingClientRect().right > width + 0.5).map(name),
    faint: texts.filter((element) => ratio(element) < 4.5).map((element) => name(element) + ': ' + ratio(element).toFixed(2)),
    unnamed: controls.filter((element) => (element.labels && element.tagName === 'TEXTAREA' ? element.labels.length === 0 : (element.textContent || '').trim() === '')).map(name),
    small: controls.filter((element) => element.getBoundingClientRect().height < 40).map(name),
  };
})()`;
