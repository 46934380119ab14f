import { dialog, type BrowserWindow, type FileFilter } from 'electron'

/** Choosing files. The page never names or sees a path. */
export interface Dialogs {
  /** Undefined when cancelled. */
  save(title: string, fileName: string, filter: FileFilter): Promise<string | undefined>
  /** Empty when cancelled. */
  open(title: string, filter: FileFilter): Promise<string[]>
  /** A folder to write files into. Undefined when cancelled. */
  folder(title: string): Promise<string | undefined>
  /** Any file, which is to be run. Undefined when cancelled. */
  program(title: string): Promise<string | undefined>
  /** Whether the user agrees to what the page has asked for; `action` is on the button that agrees. */
  confirm(question: { message: string; detail: string; action: string }): Promise<boolean>
  /** Index of the button the user chose; the first is the usual answer, the last changes nothing and answers Escape. */
  choose(question: { message: string; detail: string; buttons: readonly string[] }): Promise<number>
}

/** A text as a file name that every platform takes: no separators, control characters, leading dots or reserved signs. */
function safeFileName(text: string): string {
  const name = [...text].map((c) => (c < ' ' || c === '\u007f' || '<>:"/\\|?*'.includes(c) ? '-' : c)).join('').replace(/^[.\s]+|[.\s]+$/g, '').slice(0, 120)
  return name === '' || /^(con|prn|aux|nul|com\d|lpt\d)$/i.test(name) ? `opscope-${name || 'file'}` : name
}

/** Dialogs of the visible window. */
export const createDialogs = (window: () => BrowserWindow | undefined): Dialogs => ({
  async save(title, fileName, filter) {
    const options = { title, defaultPath: safeFileName(fileName), filters: [filter] }
    const parent = window()
    const { canceled, filePath } = parent ? await dialog.showSaveDialog(parent, options) : await dialog.showSaveDialog(options)
    return canceled || !filePath ? undefined : filePath
  },
  async open(title, filter) {
    const options = { title, filters: [filter], properties: ['openFile' as const, 'multiSelections' as const] }
    const parent = window()
    const { canceled, filePaths } = parent ? await dialog.showOpenDialog(parent, options) : await dialog.showOpenDialog(options)
    return canceled ? [] : filePaths
  },
  async folder(title) {
    const options = { title, buttonLabel: 'Save here', properties: ['openDirectory' as const, 'createDirectory' as const] }
    const parent = window()
    const { canceled, filePaths } = parent ? await dialog.showOpenDialog(parent, options) : await dialog.showOpenDialog(options)
    return canceled ? undefined : filePaths[0]
  },
  async program(title) {
    const options = { title, properties: ['openFile' as const, 'showHiddenFiles' as const] }
    const parent = window()
    const { canceled, filePaths } = parent ? await dialog.showOpenDialog(parent, options) : await dialog.showOpenDialog(options)
    return canceled ? undefined : filePaths[0]
  },
  async confirm({ message, detail, action }) {
    // The harmless button answers Enter and Escape: a page can choose the moment at which this opens.
    const options = { type: 'warning' as const, message, detail, buttons: ['Cancel', action], defaultId: 0, cancelId: 0, noLink: true }
    const parent = window()
    const { response } = parent ? await dialog.showMessageBox(parent, options) : await dialog.showMessageBox(options)
    return response === 1
  },
  async choose({ message, detail, buttons }) {
    const options = { type: 'question' as const, message, detail, buttons: [...buttons], defaultId: 0, cancelId: buttons.length - 1, noLink: true }
    const parent = window()
    const { response } = parent ? await dialog.showMessageBox(parent, options) : await dialog.showMessageBox(options)
    return response
  },
})
