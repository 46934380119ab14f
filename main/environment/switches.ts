/** Variables that change what is measured: which GPUs and how CUDA runs, threads, memory allocation, our own switches. */
const MEASURING = /^(CUDA|CUBLAS|CUDNN|NVIDIA|OPSCOPE|OMP|KMP|GOMP|MKL|OPENBLAS|MALLOC)_|^GLIBC_TUNABLES$/
/** Ours that say where things are or what tests do, not how cases are measured. */
const NOT_MEASURING = /^OPSCOPE_(DATA_DIR|ELECTRON|ELECTRON_MISSING|COMMIT|ADDON|GUEST|SETUP|GPU_HOLDERS|SERVES|PYTHON|PYTHON_ONLY|CUDA|TEST_.*)$/
const SECRET = /TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY/i
/** Longer values are no switch anybody set by hand. */
const MOST_CHARACTERS = 200

/** No path leaves this machine with a session: it would name its user. */
const isPath = (value: string) => /[/\\]/.test(value)

/** `NAME=value` of the variables that change what is measured, by name. */
export function measuringVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env)
    .flatMap(([name, value]) => (value && value.length <= MOST_CHARACTERS && MEASURING.test(name) && !NOT_MEASURING.test(name) && !SECRET.test(name) && !isPath(value) ? [`${name}=${value}`] : []))
    .sort()
}

/** A switch as it stands on a command line: `--enable-unsafe-webgpu`, `--use-angle=vulkan`. */
export const switchText = ({ name, value }: { name: string; value?: string | undefined }): string => (value === undefined || value === '' ? `--${name}` : `--${name}=${value}`)

/** Chromium switches that change how a GPU is reached, told from those of windows, logs and debuggers. */
const GRAPHICS = /gpu|dawn|webgpu|vulkan|angle|^use-gl|^(enable|disable)-features$|^(enable|disable)-blink-features$|^js-flags$|frame-rate|vsync|background/

/** The switches of a start's command line that change how WebGPU runs. Values that are paths are left out with their switch. */
export function graphicsSwitches(argv: readonly string[]): string[] {
  return argv.flatMap((argument) => {
    const [, name, value] = /^--([a-z0-9-]+)(?:=(.*))?$/.exec(argument) ?? []
    return name !== undefined && GRAPHICS.test(name) && !isPath(value ?? '') ? [switchText({ name, value })] : []
  })
}
