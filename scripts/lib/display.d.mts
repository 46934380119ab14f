/** Whether a window can be shown here. */
export function hasDisplay(): boolean

/** Switches that Electron needs to start here at all. */
export function sandboxSwitches(): string[]

/** Starts a virtual X display that picks its own free number. */
export function startXvfb(): Promise<{ display: string; stop: () => void }>
