import { expect, it } from 'vitest'
import { testResult, testSession } from '../../testing'
import { exportSession } from '../registry'

it('has a line for each sample, with its own clock or that of its batch, and each kind of label once', () => {
  const batches = testResult({
    id: 'b', samplesNs: [1, 2.5, 3], deviceStates: [{ firstSample: 1, state: { smClockMhz: 1980 } }, { firstSample: 2, state: {} }],
    labels: [{ kind: 'throttled', reason: 'x', first: 1, count: 5 }, { kind: 'throttled', reason: 'y', first: 1, count: 1 }, { kind: 'disturbed', reason: 'z', first: 1, count: 1 }],
  })
  const clocks = testResult({ id: '=c', samplesNs: [7], clocksMhz: [1200] })
  expect(exportSession('samples-csv', testSession([batches, clocks]))).toBe("result_id,index,ns,sm_clock_mhz,flags,counts\nb,0,1,,,1\nb,1,2.5,1980,throttled;disturbed,1\nb,2,3,,throttled,1\n\"'=c\",0,7,1200,,1\n")
})
