import { app } from 'electron'
import { registerAppScheme } from './app/scheme'
import { failToStart, startApp } from './app/start'
import { appendGpuSwitches } from './backends/webgpu/switches'

registerAppScheme()
appendGpuSwitches(app)

try {
  startApp()
} catch (error) {
  failToStart(error)
}
