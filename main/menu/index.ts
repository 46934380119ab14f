import { app, Menu } from 'electron'
import { menuTemplate } from './template'

/** Puts the menu bar up; `send` runs a command in the page. */
export function installMenu(send: (command: string) => void): void {
  app.setAboutPanelOptions({ applicationName: 'Opscope', applicationVersion: app.getVersion(), copyright: 'MIT licence' })
  Menu.setApplicationMenu(Menu.buildFromTemplate(menuTemplate({ platform: process.platform, development: !app.isPackaged, send })))
}
