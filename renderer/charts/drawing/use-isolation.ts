import { ref } from 'vue'
import type { EChartsCoreOption } from 'echarts/core'

/** One series by itself: the names of the others are off until it is chosen again. */
export function useIsolation(option: () => EChartsCoreOption | undefined) {
  const isolated = ref<string>()
  /** Once anything was isolated, everything has to be said, for the library keeps what is off. */
  const used = ref(false)

  /** Names of what is drawn. */
  function names(): string[] {
    const series = (option()?.['series'] ?? []) as { name?: string }[]
    return [...new Set(series.flatMap(({ name }) => name ?? []))]
  }

  function isolate(name: string): void {
    if (!names().includes(name)) return
    used.value = true
    isolated.value = isolated.value === name ? undefined : name
  }

  /** The option with only the isolated series on. */
  function withIsolation(drawn: EChartsCoreOption): EChartsCoreOption {
    if (!used.value) return drawn
    const only = isolated.value !== undefined && names().includes(isolated.value) ? isolated.value : undefined
    return { ...drawn, legend: { ...(drawn['legend'] as object | undefined), selected: Object.fromEntries(names().map((name) => [name, only === undefined || name === only])) } }
  }

  return { isolated, isolate, withIsolation, show: () => (isolated.value = undefined) }
}
