"""Physics systems of new files: what all files of the games have, and what bodies say besides their shapes.

Values are those of a map's collision and of ragdolls of both games.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..making import records
from ..objects import View

SCENE_NAME, SYSTEM_NAME = "Physics Scene Data", "Default Physics System Data"

MATERIAL: dict[str, Any] = {
    "dynamicFriction": 0.5, "staticFriction": 0.5, "restitution": 0.3984375, "frictionCombinePolicy": 1,
    "restitutionCombinePolicy": 2, "weldingTolerance": 0.05, "maxContactImpulse": 3.40282e38,
    "fractionOfClippedImpulseToApply": 1, "massChangerHeavyObjectFactor": 1,
    "disablingCollisionsBetweenCvxCvxDynamicObjectsDistance": 5,
}  # fmt: skip
DEACTIVATION = {
    "maxDistSqrd": 0.0025000002, "maxRotSqrd": 0.0025000002, "invBlockSize": 1, "pathingUpperThreshold": 26623,
    "pathingLowerThreshold": -26213, "numDeactivationFrequencyPasses": 4, "deactivationVelocityScaleSquare": 115,
    "minimumPathingVelocityScaleSquare": 117, "spikingVelocityScaleThresholdSquared": 6,
    "minimumSpikingVelocityScaleSquared": 115,
}  # fmt: skip
MOTION: dict[str, Any] = {
    "gravityFactor": 1, "timeFactor": 1, "maxLinearSpeed": 200, "maxAngularSpeed": 100, **DEACTIVATION,
    "deactivationSettings": DEACTIVATION,
    "fullCastSettings": {
        "minSeparation": -0.5, "minExtraSeparation": -0.125, "toiSeparation": -0.25, "toiExtraSeparation": -0.0875,
        "toiAccuracy": 0.01, "relativeSafeDeltaTime": 0.024999999, "absoluteSafeDeltaTime": 2.5e-05, "keepTime": 0.05,
        "keepDistance": 0.05, "maxIterations": 5,
    },
}  # fmt: skip

BODY: dict[str, Any] = {
    "qualityId": 255, "desiredBodyId": {"serialAndIndex": 0xFFFFFF}, "motionId": 0x7FFFFFFF, "attachedBody": -1,
}  # fmt: skip
EXTERN_BODY: dict[str, Any] = {"mass": -1, "motionPropertiesId": 0xFFFF}  # seed 003


def fill_system(system: View, *, extern: bool) -> None:
    """Give a system the one material and the one set of motion properties that bodies refer to.

    Args:
        system: a new system.
        extern: whether it holds extern meshes only, or nothing; the material has no name then. With that, files without
            a body are as large as the games' are: 808 and 824 bytes (seed 003).
    """
    system["name"], system["microStepMultiplier"] = SYSTEM_NAME, 1
    for name, values in (("materials", MATERIAL), ("motionProperties", MOTION)):
        system[name] = records(system, name, 1)
        _set(system.many(name).at(0), values)
    system.many("materials").at(0)["name"] = None if extern else ""


def fill_body(record: View, *, extern: bool) -> None:
    """Set what new bodies say besides name, shape and place; ``extern`` for those of extern meshes."""
    _set(record, BODY | EXTERN_BODY if extern else BODY)


def _set(view: View, values: dict[str, Any]) -> None:
    """Set those members that the class has."""
    for name, value in values.items():
        if name not in view:
            continue
        if isinstance(value, dict):
            _set(view.one(name), value)
        else:
            view[name] = np.asarray(value)
