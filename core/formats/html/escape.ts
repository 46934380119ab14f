const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Text that is shown as text, in content and in quoted attributes. Control characters that HTML forbids become U+FFFD. */
// The class holds the C0 controls other than tab and line ends; String.raw keeps them readable here.
const CONTROLS = new RegExp(String.raw`[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]`, 'g')
export const escapeHtml = (text: string): string => text.replace(CONTROLS, '\ufffd').replace(/[&<>"']/g, (ch) => ENTITIES[ch]!)
