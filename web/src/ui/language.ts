/**
 * Before uPlot, which formats numbers in the language of the browser as it loads. Chromium in the C locale names one that
 * is none: "en-US@posix".
 */
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
}

export {};
