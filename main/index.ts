import { app } from 'electron'
import { refuseDebugging } from './app/release'
import { registerAppScheme } from './app/scheme'
import { failToStart, startApp } from './app/start'
import { isWebgpuHost } from './backends/webgpu/host-flag'
import { runWebgpuHost } from './backends/webgpu/host-mode'
import { appendGpuSwitches } from './backends/webgpu/switches'

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
