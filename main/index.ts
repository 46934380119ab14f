import { app } from 'electron'
import { refuseDebugging } from './app/harden'
import { registerAppScheme } from './app/pages'
import { failToStart, startApp } from './app/start'
import { isWebgpuHost, appendGpuSwitches } from './backends/webgpu/switches'
import { runWebgpuHost } from './backends/webgpu/host-mode'

refuseDebugging(app)
// Both before Electron is ready, and for the window as for the page that measures.
registerAppScheme()
appendGpuSwitches(app)

if (isWebgpuHost()) runWebgpuHost()
else {
  try {
    startApp()
  } catch (error) {
    failToStart(error)
  }
}
