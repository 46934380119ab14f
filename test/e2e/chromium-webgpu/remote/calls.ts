import type { CaseErrorCode, Device, MemoryUse, OutputScan, Problem, SampleRequest, Timer } from '@core/backend'

/** What a test asks of the backend in the page. */
export type RemoteCall =
  | { do: 'devices' }
  | { do: 'open'; problem: Problem }
  | { do: 'poison' | 'run' | 'scan' | 'dispose'; id: number }
  | { do: 'refill'; id: number; seed: number }
  | { do: 'read'; id: number; output: number; start: number; count: number }
  | { do: 'sample'; id: number; request: SampleRequest }

/** The fields that belong to the call; `error` alone when it failed. */
export interface RemoteReply {
  devices?: Device[]
  id?: number
  timer?: Timer
  tickNs?: number
  notes?: readonly string[]
  memory?: MemoryUse
  scans?: OutputScan[]
  /** Path of the page's server that the elements were posted to, as f32, or as i32 where `whole`. */
  posted?: string
  whole?: boolean
  samplesNs?: number[]
  inner?: number
  error?: { code: CaseErrorCode; message: string; detail?: string | undefined }
}

declare global {
  interface Window {
    remoteCall?: (call: RemoteCall) => Promise<RemoteReply>
  }
}
