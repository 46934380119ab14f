import { serve } from '@core/measure/serve'
import { createWebgpuBackend, optionsIn } from './backend'
import { hostPort, hostSweeps, pageVerifyPool } from './host'

const port = hostPort()
// Opened by hand in a browser, the page has nobody to answer and says what it is.
if (port) serve([createWebgpuBackend({ ...optionsIn(location.search), sweeps: hostSweeps() })], port, { pool: pageVerifyPool() })
