import { CustomChart, HeatmapChart, LineChart, ParallelChart, ScatterChart } from 'echarts/charts'
import { GridComponent, LegendComponent, LegendScrollComponent, MarkAreaComponent, MarkLineComponent, MarkPointComponent, ParallelComponent, TitleComponent, ToolboxComponent, TooltipComponent, DataZoomComponent, VisualMapContinuousComponent } from 'echarts/components'
import { init, use, type EChartsCoreOption } from 'echarts/core'
import { LabelLayout } from 'echarts/features'
import { CanvasRenderer, SVGRenderer } from 'echarts/renderers'

use([LineChart, ScatterChart, CustomChart, HeatmapChart, ParallelChart, ParallelComponent, TitleComponent, VisualMapContinuousComponent, GridComponent, LegendComponent, LegendScrollComponent, MarkLineComponent, MarkAreaComponent, MarkPointComponent, ToolboxComponent, TooltipComponent, DataZoomComponent, LabelLayout, CanvasRenderer, SVGRenderer])

/** The chart of this option as SVG text, drawn off screen at this size in px. */
export function renderSvg(option: EChartsCoreOption, width: number, height: number): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height })
  try {
    chart.setOption(option)
    return chart.renderToSVGString()
  } finally {
    chart.dispose()
  }
}
