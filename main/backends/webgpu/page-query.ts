/**
 * OPSCOPE_RED_TEAM=1 asks for kernels that cheat, OPSCOPE_WEBGPU_SUBGROUPS=on or off decides about subgroups, OPSCOPE_WEBGPU_MATRICES=off does without their matrices, OPSCOPE_WEBGPU_LIMITS=default
 * asks for no more than the specification promises, OPSCOPE_WEBGPU_SWEEP=again has the cache measured again; the page has no environment and
 * is told by its address.
 */
export function pageQuery({ OPSCOPE_RED_TEAM: redTeam, OPSCOPE_WEBGPU_SUBGROUPS: subgroups, OPSCOPE_WEBGPU_MATRICES: matrices, OPSCOPE_WEBGPU_LIMITS: limits, OPSCOPE_WEBGPU_SWEEP: sweep }: NodeJS.ProcessEnv = process.env): string {
  const words = [...(redTeam === '1' ? ['red-team'] : []), ...(subgroups === 'on' || subgroups === 'off' ? [`subgroups=${subgroups}`] : []), ...(matrices === 'off' ? ['matrices=off'] : []), ...(limits === 'default' ? ['limits=default'] : []), ...(sweep === 'again' ? ['sweep=again'] : [])]
  return words.length > 0 ? `?${words.join('&')}` : ''
}
