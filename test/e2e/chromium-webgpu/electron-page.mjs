// Shows an empty page in a hidden window: Electron's engine for tests that need no app around it.
import { app, BrowserWindow } from 'electron'

void app.whenReady().then(() => {
  const window = new BrowserWindow({ show: false, webPreferences: { contextIsolation: true, sandbox: true, backgroundThrottling: false } })
  return window.loadURL('about:blank')
})
