// What a page does beyond its HTML.

import { enable } from "./copying.js";
import "./figures.js";
import "./live.js";
import "./readout.js";
import "./replay.js";
import "./saving.js";
import { tellTimes } from "./times.js";

tellTimes(document);
enable(document);
