import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser } from 'playwright-core'

/** A WebGPU adapter that computes on the CPU (SwiftShader), with exact timestamps. */
export const SOFTWARE_SWITCHES = [
  '--no-sandbox',
  '--enable-unsafe-webgpu',
  '--enable-webgpu-developer-features',
  '--enable-features=Vulkan',
  '--use-vulkan=swiftshader',
  '--use-angle=swiftshader',
  '--use-webgpu-adapter=swiftshader',
  '--ignore-gpu-blocklist',
  '--disable-dawn-features=timestamp_quantization',
]

/** Headless Chromium. Its crash reporter would keep a folder in the home of who runs the tests, whatever the profile; here it goes with the browser. */
export async function launchChromium(executablePath: string, args: readonly string[] = SOFTWARE_SWITCHES): Promise<Browser> {
  const config = mkdtempSync(join(tmpdir(), 'opscope-chromium-'))
  const browser = await chromium.launch({ executablePath, args: [...args], env: { ...process.env, XDG_CONFIG_HOME: config } as Record<string, string> })
  browser.on('disconnected', () => rmSync(config, { recursive: true, force: true }))
  return browser
}
