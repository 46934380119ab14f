const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

// The C0 controls other than tab and line ends; String.raw keeps them readable here.
const CONTROLS = new RegExp(String.raw`[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]`, 'g')

/** Text without the control characters that HTML forbids: they become U+FFFD. */
export const printable = (text: string): string => text.replace(CONTROLS, '\ufffd')

/** Text that is shown as text, in content and in quoted attributes. */
export const escapeHtml = (text: string): string => printable(text).replace(/[&<>"']/g, (ch) => ENTITIES[ch]!)
