import { computed, ref, shallowReactive, watch } from 'vue'
import { ceilingsOfSession } from '@core/roofline/ceilings'
import type { Environment, Session } from '@core/session/types'
import { call } from '../../lib/api'
import { useDevices } from '../../stores/devices'
import { useNotices } from '../../stores/notices'
import type { RowSource } from '../../stores/rows/result-rows'
import { loadRows, rowsOf } from '../../stores/rows/session-rows'
import { pointsOf } from '../data/points'
import { datasheetRoofs, measuredRoofs } from '../data/roofs'
import { takePoints } from '../data/take-points'
import type { Layer } from '../unit'

/** More sessions than this cannot be told apart on one plot. */
export const MAX_LAYERS = 4

interface Loaded {
  session: Session
  environment: Environment
  rows: RowSource
}

/** Sessions laid over the one on show, which is `shown`; they go when another session is shown. */
export function useLayers(shown: () => string | undefined) {
  const devices = useDevices()
  const notices = useNotices()
  const ids = ref<string[]>([])
  const loaded = shallowReactive(new Map<string, Loaded>())
  watch(shown, () => {
    ids.value = []
    loaded.clear()
  })

  async function add(id: string): Promise<void> {
    ids.value = [...ids.value, id]
    try {
      const rows = rowsOf(id)
      const [{ session, environment }] = await Promise.all([call('sessions:get', { id }), loadRows(id)])
      await takePoints(rows)
      if (ids.value.includes(id)) loaded.set(id, { session, environment, rows })
    } catch (error) {
      ids.value = ids.value.filter((other) => other !== id)
      notices.fail(error, 'read the session')
    }
  }

  function toggle(id: string): void {
    if (!ids.value.includes(id)) void add(id)
    else {
      ids.value = ids.value.filter((other) => other !== id)
      loaded.delete(id)
    }
  }

  const layers = computed(() =>
    ids.value.flatMap((id): Layer[] => {
      const found = loaded.get(id)
      if (!found || found.rows.version < 0) return []
      const { session, environment, rows } = found
      return [{ id, name: session.name, points: pointsOf(rows), roofs: measuredRoofs(ceilingsOfSession(environment, devices.ceilings)), datasheets: datasheetRoofs(environment.devices) }]
    }),
  )
  return { ids, layers, toggle }
}
