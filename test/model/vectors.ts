import {
  attemptStates,
  eligibilityStates,
  interruptions,
  lifecyclePhases,
  ownershipStates,
  terminalOutcomes,
} from '../../src/model/state.ts'
import type { StateVector } from '../../src/model/state.ts'

/** Every combination of words, legal or not. */
export const allVectors: readonly StateVector[] = lifecyclePhases.flatMap((lifecyclePhase) =>
  ownershipStates.flatMap((ownershipState) =>
    eligibilityStates.flatMap((eligibilityState) =>
      attemptStates.flatMap((attemptState) =>
        terminalOutcomes.flatMap((terminalOutcome) =>
          interruptions.map((interruption) => ({
            lifecyclePhase,
            ownershipState,
            eligibilityState,
            attemptState,
            terminalOutcome,
            interruption,
          })),
        ),
      ),
    ),
  ),
)
