import { serve } from '@core/measure/serve'
import { createWebgpuBackend } from './backend'
import { hostPort, pageVerifyPool } from './host'

const port = hostPort()
// Opened by hand in a browser, the page has nobody to answer and says what it is.
if (port) serve([createWebgpuBackend({ redTeam: new URLSearchParams(location.search).has('red-team') })], port, { pool: pageVerifyPool() })
