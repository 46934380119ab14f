import { ref, watch, type Ref } from 'vue'
import type { EChartsCoreOption } from 'echarts/core'

/** Names of the series that can be shown alone: of what is drawn, what carries data and answers to the pointer. */
export function seriesNames(option: EChartsCoreOption | undefined): string[] {
  const series = (option?.['series'] ?? []) as { name?: string; silent?: boolean; data?: readonly unknown[] }[]
  return [...new Set(series.flatMap(({ name, silent, data }) => (name && !silent && data?.length ? [name] : [])))]
}

/** One series by itself, which `isolated` names: the others are off until it is chosen again. */
export function useIsolation(option: () => EChartsCoreOption | undefined, isolated: Ref<string | undefined>) {
  /** Once anything was isolated, everything has to be said, for the library keeps what is off. */
  const used = ref(isolated.value !== undefined)
  watch(isolated, () => (used.value = true), { flush: 'sync' })

  /** Names of what is drawn. */
  function names(): string[] {
    const series = (option()?.['series'] ?? []) as { name?: string }[]
    return [...new Set(series.flatMap(({ name }) => name ?? []))]
  }

  function isolate(name: string): void {
    if (!names().includes(name)) return
    isolated.value = isolated.value === name ? undefined : name
  }

  /** The option with only the isolated series on. */
  function withIsolation(drawn: EChartsCoreOption): EChartsCoreOption {
    if (!used.value) return drawn
    const only = isolated.value !== undefined && names().includes(isolated.value) ? isolated.value : undefined
    return { ...drawn, legend: { ...(drawn['legend'] as object | undefined), selected: Object.fromEntries(names().map((name) => [name, only === undefined || name === only])) } }
  }

  return { isolate, withIsolation, show: () => (isolated.value = undefined) }
}
