/**
 * What a page of the app may load: its own files and pictures it drew itself. Inline style attributes are needed by
 * chart tooltips and virtual tables; inline style elements, scripts and eval are not.
 */
const DIRECTIVES = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'style-src-attr': "'unsafe-inline'",
  'img-src': "'self' data: blob:",
  'font-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
}

/** Headers of every page and file. The isolation headers give timers their full resolution. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': Object.entries(DIRECTIVES).map(([name, value]) => `${name} ${value}`).join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-cache',
}
