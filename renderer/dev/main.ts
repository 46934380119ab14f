import { installMockApi } from './mock-api'

// The page is built against `window.opscope`; here it is invented before the app starts.
const options = new URLSearchParams(location.search)
installMockApi({ empty: options.has('empty'), rows: Number(options.get('rows') ?? 0) || undefined, interrupted: options.has('interrupted') })
await import('../main')
