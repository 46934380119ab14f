export { ceilingCases, ceilingPlan, ceilingSettings, type CeilingCase } from './cases'
export { copyCurve, intervalOf, type CurvePoint, ceilingsOn, type DeviceIdentity, type KnownCeiling, launchShare, NOTABLE_LAUNCH } from './read'
export { cacheKind, ceilingKind, ceilingTitle, ceilingValue, compareKinds, copySizeKind, flopsKind, launchKind, READ_KIND, WRITE_KIND, type CeilingKind } from './kinds'
export { cacheCeilings, ceilingOf, ceilingsOf } from './read'
