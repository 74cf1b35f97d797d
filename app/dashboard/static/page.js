// What a page does beyond its HTML.

import "./choosing.js";
import { enable } from "./copying.js";
import "./figures.js";
import "./keys.js";
import "./link.js";
import "./live.js";
import "./readout.js";
import "./replay.js";
import "./saving.js";
import { tellTimes } from "./times.js";
import "./writes.js";

tellTimes(document);
enable(document);
