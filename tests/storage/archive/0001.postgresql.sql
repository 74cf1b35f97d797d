SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.attempts (
    trial_id bigint NOT NULL,
    number integer NOT NULL,
    lease_id character varying(64) NOT NULL,
    request_id character varying(100) NOT NULL,
    worker character varying(100) NOT NULL,
    incarnation character varying(100) NOT NULL,
    device character varying(100) NOT NULL,
    environment json NOT NULL,
    last_step bigint NOT NULL,
    started_at bigint NOT NULL,
    ended_at bigint,
    outcome character varying(20),
    loss double precision,
    message text,
    traceback text
);
CREATE TABLE public.clock (
    id integer NOT NULL,
    offset_milliseconds bigint NOT NULL,
    CONSTRAINT clock_single_row_check CHECK ((id = 1))
);
CREATE SEQUENCE public.clock_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.clock_id_seq OWNED BY public.clock.id;
CREATE TABLE public.observations (
    study_id bigint NOT NULL,
    seq integer NOT NULL,
    trial integer NOT NULL,
    attempt integer NOT NULL,
    outcome character varying(20) NOT NULL,
    loss double precision,
    cause character varying(30)
);
CREATE TABLE public.reports (
    trial_id bigint NOT NULL,
    attempt integer NOT NULL,
    first_step bigint NOT NULL,
    points json NOT NULL
);
CREATE TABLE public.studies (
    id bigint NOT NULL,
    name character varying(100) NOT NULL,
    task character varying(100) NOT NULL,
    space json NOT NULL,
    strategy character varying(100) NOT NULL,
    seed bigint NOT NULL,
    max_trials integer NOT NULL,
    max_attempts integer NOT NULL,
    state character varying(20) NOT NULL,
    reason character varying(30),
    trials integer NOT NULL,
    observations integer NOT NULL,
    created_at bigint NOT NULL
);
CREATE SEQUENCE public.studies_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.studies_id_seq OWNED BY public.studies.id;
CREATE TABLE public.trials (
    id bigint NOT NULL,
    study_id bigint NOT NULL,
    number integer NOT NULL,
    config json NOT NULL,
    config_key character varying(64) NOT NULL,
    seed bigint NOT NULL,
    reasons json NOT NULL,
    state character varying(20) NOT NULL,
    cause character varying(30),
    loss double precision,
    attempts integer NOT NULL,
    max_attempts integer NOT NULL,
    lease_id character varying(64),
    free_at bigint NOT NULL,
    created_at bigint NOT NULL,
    finished_at bigint
);
CREATE SEQUENCE public.trials_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.trials_id_seq OWNED BY public.trials.id;
ALTER TABLE ONLY public.clock ALTER COLUMN id SET DEFAULT nextval('public.clock_id_seq'::regclass);
ALTER TABLE ONLY public.studies ALTER COLUMN id SET DEFAULT nextval('public.studies_id_seq'::regclass);
ALTER TABLE ONLY public.trials ALTER COLUMN id SET DEFAULT nextval('public.trials_id_seq'::regclass);
INSERT INTO public.alembic_version VALUES ('0001');
INSERT INTO public.attempts VALUES (15, 1, 'c7048f66fbfd22719446cab86ed10b91', 'wish-18', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051467032, 1795051467044, 'succeeded', 0.3, NULL, NULL);
INSERT INTO public.attempts VALUES (1, 1, '42492f62ef221e4784fca561ae135106', 'wish-1', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', 2, 1795051464002, 1795051464043, 'succeeded', 0.5, NULL, NULL);
INSERT INTO public.attempts VALUES (16, 1, 'b3eb8ed63c39a7a18feb05505c4e2bec', 'wish-19', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051467069, 1795051467083, 'succeeded', 0.4, NULL, NULL);
INSERT INTO public.attempts VALUES (2, 1, 'a161bfe8c5d2c0d60b4c05dacc0f407c', 'wish-2', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', 2, 1795051464065, 1795051464090, 'succeeded', 0.6, NULL, NULL);
INSERT INTO public.attempts VALUES (17, 1, '3c9cb383b67d9b4049afa7ee57183241', 'wish-20', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051467829, 1795051467843, 'succeeded', 0.5, NULL, NULL);
INSERT INTO public.attempts VALUES (3, 1, '6f305428b0e54dd34aeee8f8b861dbc0', 'wish-3', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', 2, 1795051464100, 1795051464123, 'succeeded', 0.7, NULL, NULL);
INSERT INTO public.attempts VALUES (18, 1, 'a5a43ccef1733a4226e8e467bfa119d4', 'wish-21', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051467860, 1795051470367, 'lost', NULL, NULL, NULL);
INSERT INTO public.attempts VALUES (4, 1, '2a5e839ba14e7b5f0c50b993a5f2cca8', 'wish-4', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', 2, 1795051464136, 1795051464162, 'succeeded', 0.8, NULL, NULL);
INSERT INTO public.attempts VALUES (19, 1, 'ba9f314ca5e188617df594212068499d', 'wish-22', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', 0, 1795051470391, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.attempts VALUES (5, 1, '0f9232f92786e60a4fb7e47da0e31e15', 'wish-5', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', 2, 1795051464172, 1795051464191, 'succeeded', 0.9, NULL, NULL);
INSERT INTO public.attempts VALUES (6, 1, '9be7449de10a74b7a99e75252c2e782f', 'wish-6', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', 2, 1795051464201, 1795051464219, 'succeeded', 1, NULL, NULL);
INSERT INTO public.attempts VALUES (7, 1, '1bf96f129429b11b8fadb015638f7d0e', 'wish-7', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051464232, 1795051464237, 'diverged', NULL, 'nan', NULL);
INSERT INTO public.attempts VALUES (8, 1, '6d8599b71349fb4593961bccf92fe48e', 'wish-8', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051464256, 1795051464263, 'error', NULL, 'boom', 'Traceback: boom');
INSERT INTO public.attempts VALUES (8, 2, '4e8968ccf4bf81527e14e4fc0d7288b8', 'wish-9', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051464268, 1795051464274, 'out_of_memory', NULL, 'boom', 'Traceback: boom');
INSERT INTO public.attempts VALUES (9, 1, '3cb535c6531783d56dd6ac6924a95494', 'wish-10', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051464288, 1795051464293, 'succeeded', 0.9, NULL, NULL);
INSERT INTO public.attempts VALUES (10, 1, 'c407189e7242749cd231cc74152e7381', 'wish-11', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051464303, 1795051464310, 'released', NULL, NULL, NULL);
INSERT INTO public.attempts VALUES (10, 2, '637b767fd634061e0d393c20eb3ba56f', 'wish-12', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051464316, 1795051466827, 'lost', NULL, NULL, NULL);
INSERT INTO public.attempts VALUES (10, 3, 'bd9c5d99752a231f08fc2a0cce178ff8', 'wish-13', 'node-2', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051466831, 1795051466847, 'succeeded', 0.7, NULL, NULL);
INSERT INTO public.attempts VALUES (11, 1, '05ca0e811e31dd6a3837e7b32935b74c', 'wish-14', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051466864, 1795051466875, 'succeeded', 0.5, NULL, NULL);
INSERT INTO public.attempts VALUES (12, 1, '882ca9736dccba1bf7911bd9a97e287d', 'wish-15', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051466907, 1795051466923, 'succeeded', 0.4, NULL, NULL);
INSERT INTO public.attempts VALUES (13, 1, 'c4872fe03d43d3651199d4b1223e2bf2', 'wish-16', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051466948, 1795051466962, 'succeeded', 0.1, NULL, NULL);
INSERT INTO public.attempts VALUES (14, 1, '0931b6c2865b0f456e4c1351cd7550ab', 'wish-17', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051466991, 1795051467006, 'succeeded', 0.2, NULL, NULL);
INSERT INTO public.clock VALUES (1, 0);
INSERT INTO public.observations VALUES (1, 1, 0, 1, 'succeeded', 0.5, NULL);
INSERT INTO public.observations VALUES (1, 2, 1, 1, 'succeeded', 0.6, NULL);
INSERT INTO public.observations VALUES (1, 3, 2, 1, 'succeeded', 0.7, NULL);
INSERT INTO public.observations VALUES (1, 4, 3, 1, 'succeeded', 0.8, NULL);
INSERT INTO public.observations VALUES (1, 5, 4, 1, 'succeeded', 0.9, NULL);
INSERT INTO public.observations VALUES (1, 6, 5, 1, 'succeeded', 1, NULL);
INSERT INTO public.observations VALUES (1, 7, 6, 1, 'diverged', NULL, NULL);
INSERT INTO public.observations VALUES (1, 8, 7, 2, 'failed', NULL, 'out_of_memory');
INSERT INTO public.observations VALUES (1, 9, 8, 1, 'succeeded', 0.9, NULL);
INSERT INTO public.observations VALUES (1, 10, 9, 3, 'succeeded', 0.7, NULL);
INSERT INTO public.observations VALUES (2, 1, 0, 1, 'succeeded', 0.5, NULL);
INSERT INTO public.observations VALUES (2, 2, 1, 1, 'succeeded', 0.4, NULL);
INSERT INTO public.observations VALUES (3, 1, 0, 1, 'succeeded', 0.1, NULL);
INSERT INTO public.observations VALUES (3, 2, 1, 1, 'succeeded', 0.2, NULL);
INSERT INTO public.observations VALUES (3, 3, 2, 1, 'succeeded', 0.3, NULL);
INSERT INTO public.observations VALUES (3, 4, 3, 1, 'succeeded', 0.4, NULL);
INSERT INTO public.observations VALUES (4, 1, 0, 1, 'succeeded', 0.5, NULL);
INSERT INTO public.observations VALUES (5, 1, 0, 1, 'failed', NULL, 'attempts_used_up');
INSERT INTO public.reports VALUES (1, 1, 0, '[{"step": 0, "metrics": {"loss": 1.0}}, {"step": 1, "metrics": {"loss": 0.8}}]');
INSERT INTO public.reports VALUES (1, 1, 2, '[{"step": 2, "metrics": {"loss": 0.5}}]');
INSERT INTO public.reports VALUES (2, 1, 0, '[{"step": 0, "metrics": {"loss": 1.0}}, {"step": 1, "metrics": {"loss": 0.9}}]');
INSERT INTO public.reports VALUES (2, 1, 2, '[{"step": 2, "metrics": {"loss": 0.6}}]');
INSERT INTO public.reports VALUES (3, 1, 0, '[{"step": 0, "metrics": {"loss": 1.0}}, {"step": 1, "metrics": {"loss": 1.0}}]');
INSERT INTO public.reports VALUES (3, 1, 2, '[{"step": 2, "metrics": {"loss": 0.7}}]');
INSERT INTO public.reports VALUES (4, 1, 0, '[{"step": 0, "metrics": {"loss": 1.0}}, {"step": 1, "metrics": {"loss": 1.1}}]');
INSERT INTO public.reports VALUES (4, 1, 2, '[{"step": 2, "metrics": {"loss": 0.8}}]');
INSERT INTO public.reports VALUES (5, 1, 0, '[{"step": 0, "metrics": {"loss": 1.0}}, {"step": 1, "metrics": {"loss": 1.2000000000000002}}]');
INSERT INTO public.reports VALUES (5, 1, 2, '[{"step": 2, "metrics": {"loss": 0.9}}]');
INSERT INTO public.reports VALUES (6, 1, 0, '[{"step": 0, "metrics": {"loss": 1.0}}, {"step": 1, "metrics": {"loss": 1.3}}]');
INSERT INTO public.reports VALUES (6, 1, 2, '[{"step": 2, "metrics": {"loss": 1.0}}]');
INSERT INTO public.reports VALUES (19, 1, 0, '[{"step": 0, "metrics": {"loss": 0.9}}]');
INSERT INTO public.studies VALUES (2, 'finished', 'train', '{"x": {"type": "float", "low": 0.0, "high": 1.0}}', 'random', 1, 2, 3, 'completed', 'max_trials', 2, 2, 1795051466850);
INSERT INTO public.studies VALUES (3, 'exhausted', 'train', '{"a": {"type": "boolean"}, "b": {"type": "boolean"}}', 'grid', 1, 20, 3, 'active', NULL, 4, 4, 1795051466930);
INSERT INTO public.studies VALUES (4, 'sobol', 'train', '{"x": {"type": "float", "low": 0.0, "high": 1.0}}', 'quasi_random', 1, 20, 3, 'active', NULL, 1, 1, 1795051467089);
INSERT INTO public.studies VALUES (5, 'hopeless', 'train', '{"x": {"type": "float", "low": 0.0, "high": 1.0}}', 'biased_random', 1, 20, 1, 'active', NULL, 1, 1, 1795051467847);
INSERT INTO public.studies VALUES (1, 'search', 'train', '{"lr": {"type": "float", "low": 0.0001, "high": 1.0, "log": true}, "width": {"type": "int", "low": 8, "high": 64, "step": 8}, "rule": {"type": "categorical", "choices": ["sgd", "kfac"]}, "size": {"type": "ordinal", "choices": ["narrow", "middle", "wide"]}, "nesterov": {"type": "boolean", "when": {"rule": ["sgd"]}}}', 'biased_random', 1, 60, 2, 'active', NULL, 11, 10, 1795051463968);
INSERT INTO public.trials VALUES (1, 1, 0, '{"lr": 0.17923228597, "width": 56, "rule": "kfac", "size": "middle"}', 'c1b283ab67820b5f031fd6f5550bb3e1206b318b3176d00e1d25e1852377a23f', 5854950545185455, '{"strategy": "biased_random", "watermark": 0, "refused": 0, "nearest_trial": null, "distance": null, "estimate": null, "acceptance": 1.0}', 'succeeded', NULL, 0.5, 1, 2, '42492f62ef221e4784fca561ae135106', 1795051465034, 1795051463999, 1795051464042);
INSERT INTO public.trials VALUES (2, 1, 1, '{"lr": 0.000199804195986, "width": 64, "rule": "kfac", "size": "wide"}', '6008cd6f3a445e7f5004f1c3f2d9ddf22ae81aed4ed5d3ad0c3da8fb6704c2b8', 7554410117382319, '{"strategy": "biased_random", "watermark": 1, "refused": 0, "nearest_trial": 0, "distance": 0.8195606428276367, "estimate": 0.5, "acceptance": 1.0}', 'succeeded', NULL, 0.6, 1, 2, 'a161bfe8c5d2c0d60b4c05dacc0f407c', 1795051465077, 1795051464062, 1795051464089);
INSERT INTO public.trials VALUES (3, 1, 2, '{"lr": 0.015514661951, "width": 56, "rule": "sgd", "size": "wide", "nesterov": true}', '30b9e8e40ebf03907735220ed9c3df929163ec0fa9c7d9e0fc2ff9cb988d3eb3', 3632089929981814, '{"strategy": "biased_random", "watermark": 2, "refused": 0, "nearest_trial": 0, "distance": 1.4770547902063926, "estimate": 0.5, "acceptance": 1.0}', 'succeeded', NULL, 0.7, 1, 2, '6f305428b0e54dd34aeee8f8b861dbc0', 1795051465115, 1795051464097, 1795051464123);
INSERT INTO public.trials VALUES (4, 1, 3, '{"lr": 0.0912820515555, "width": 56, "rule": "kfac", "size": "narrow"}', '8fa547930f0bc018d37a0ca33334177d20d5409e3fff101402eefbaaed33412e', 4712910346481374, '{"strategy": "biased_random", "watermark": 3, "refused": 0, "nearest_trial": 0, "distance": 0.34128844635151806, "estimate": 0.5, "acceptance": 1.0}', 'succeeded', NULL, 0.8, 1, 2, '2a5e839ba14e7b5f0c50b993a5f2cca8', 1795051465152, 1795051464134, 1795051464161);
INSERT INTO public.trials VALUES (5, 1, 4, '{"lr": 0.0184039166447, "width": 64, "rule": "sgd", "size": "wide", "nesterov": false}', '846232bad99625dad04a15f436761ae825876b9baf5e25fbadd719796d89b6d0', 2574326112439867, '{"strategy": "biased_random", "watermark": 4, "refused": 1, "nearest_trial": 2, "distance": 1.0079527792567895, "estimate": 0.7, "acceptance": 0.3333333333333336}', 'succeeded', NULL, 0.9, 1, 2, '0f9232f92786e60a4fb7e47da0e31e15', 1795051465184, 1795051464169, 1795051464190);
INSERT INTO public.trials VALUES (6, 1, 5, '{"lr": 0.0742578024471, "width": 32, "rule": "kfac", "size": "wide"}', '10a6fcf285aa80e4646a66a7b1b20d1c83c3262f844912de9c989a8e04b98438', 3603335978758971, '{"strategy": "biased_random", "watermark": 5, "refused": 0, "nearest_trial": 0, "distance": 0.5107725327715947, "estimate": 0.5, "acceptance": 1.0}', 'succeeded', NULL, 1, 1, 2, '9be7449de10a74b7a99e75252c2e782f', 1795051465213, 1795051464199, 1795051464219);
INSERT INTO public.trials VALUES (7, 1, 6, '{"lr": 0.00844920240805, "width": 8, "rule": "kfac", "size": "narrow"}', 'b94ad881ce948c4871e36a4b34b4d1867844186eddbe33a3b2299e941f3c4f47', 3454990870116558, '{"strategy": "biased_random", "watermark": 6, "refused": 0, "nearest_trial": 3, "distance": 0.7932632869790313, "estimate": 0.8, "acceptance": 0.3999999999999999}', 'diverged', NULL, NULL, 1, 2, '1bf96f129429b11b8fadb015638f7d0e', 1795051465231, 1795051464229, 1795051464237);
INSERT INTO public.trials VALUES (8, 1, 7, '{"lr": 0.00339403536302, "width": 64, "rule": "kfac", "size": "middle"}', '80de2d927b717a4ea3ecadd0a4bbe1b0ea5f113cd5262cde59c1f0be2a3c75b7', 2159311904508941, '{"strategy": "biased_random", "watermark": 7, "refused": 1, "nearest_trial": 0, "distance": 0.4484483582129849, "estimate": 0.5, "acceptance": 1.0}', 'failed', 'out_of_memory', NULL, 2, 2, '4e8968ccf4bf81527e14e4fc0d7288b8', 1795051465267, 1795051464254, 1795051464273);
INSERT INTO public.trials VALUES (9, 1, 8, '{"lr": 0.00532469439036, "width": 48, "rule": "sgd", "size": "narrow", "nesterov": true}', 'ffddfd1f946f8eb718f3abf4340275e6f83de9dba2bd4ad449e05a284ee54b49', 2968957234454642, '{"strategy": "biased_random", "watermark": 8, "refused": 4, "nearest_trial": 2, "distance": 0.6881507244360672, "estimate": 0.7, "acceptance": 0.6000000000000001}', 'succeeded', NULL, 0.9, 1, 2, '3cb535c6531783d56dd6ac6924a95494', 1795051465287, 1795051464286, 1795051464293);
INSERT INTO public.trials VALUES (10, 1, 9, '{"lr": 0.000135383064935, "width": 24, "rule": "kfac", "size": "wide"}', '588691e81dad995ae5d08af9413dbe8f633014744721a5fc638f1f1146f384a7', 6506242002484145, '{"strategy": "biased_random", "watermark": 9, "refused": 1, "nearest_trial": 1, "distance": 0.6264271012233942, "estimate": 0.6, "acceptance": 0.8}', 'succeeded', NULL, 0.7, 3, 3, 'bd9c5d99752a231f08fc2a0cce178ff8', 1795051467826, 1795051464301, 1795051466846);
INSERT INTO public.trials VALUES (11, 2, 0, '{"x": 0.813354060979}', '69924794c4ff764b71e49b59be3879fc0d97dc2efd8d87b7ccb805ed14fe85a7', 5854950545185455, '{"strategy": "random", "watermark": 0, "refused": 0, "nearest_trial": null, "distance": null, "estimate": null, "acceptance": 1.0}', 'succeeded', NULL, 0.5, 1, 3, '05ca0e811e31dd6a3837e7b32935b74c', 1795051467863, 1795051466862, 1795051466874);
INSERT INTO public.trials VALUES (12, 2, 1, '{"x": 0.0751511510959}', 'ba4c71058e02141e93b19efa62c82428e536130cd05d2f9a589edd56231f660f', 7554410117382319, '{"strategy": "random", "watermark": 1, "refused": 0, "nearest_trial": null, "distance": null, "estimate": null, "acceptance": 1.0}', 'succeeded', NULL, 0.4, 1, 3, '882ca9736dccba1bf7911bd9a97e287d', 1795051467903, 1795051466899, 1795051466919);
INSERT INTO public.trials VALUES (13, 3, 0, '{"a": false, "b": false}', '10eb12861546e953ae8fdadc2b6558461b5af6d790929d081c21743622e4d86b', 5854950545185455, '{"strategy": "grid", "watermark": 0, "refused": 0, "nearest_trial": null, "distance": null, "estimate": null, "acceptance": 1.0}', 'succeeded', NULL, 0.1, 1, 3, 'c4872fe03d43d3651199d4b1223e2bf2', 1795051467947, 1795051466945, 1795051466962);
INSERT INTO public.trials VALUES (14, 3, 1, '{"a": false, "b": true}', 'fa59f59e6d51fd60bca1fdde5b90378aac933deaba6ca6a1211cecc86cebc166', 7554410117382319, '{"strategy": "grid", "watermark": 1, "refused": 0, "nearest_trial": null, "distance": null, "estimate": null, "acceptance": 1.0}', 'succeeded', NULL, 0.2, 1, 3, '0931b6c2865b0f456e4c1351cd7550ab', 1795051467987, 1795051466983, 1795051467005);
INSERT INTO public.trials VALUES (15, 3, 2, '{"a": true, "b": false}', 'cf5ce5d22cc0da3c5aa620a9652583597ad367d1e69a668b4ddceecaf010d5a8', 3632089929981814, '{"strategy": "grid", "watermark": 2, "refused": 0, "nearest_trial": null, "distance": null, "estimate": null, "acceptance": 1.0}', 'succeeded', NULL, 0.3, 1, 3, 'c7048f66fbfd22719446cab86ed10b91', 1795051468028, 1795051467025, 1795051467044);
INSERT INTO public.trials VALUES (16, 3, 3, '{"a": true, "b": true}', '4947bff777a27a43600a4dfdcafa492208495c601a59f8cc3728ce700119fc9b', 4712910346481374, '{"strategy": "grid", "watermark": 3, "refused": 0, "nearest_trial": null, "distance": null, "estimate": null, "acceptance": 1.0}', 'succeeded', NULL, 0.4, 1, 3, 'b3eb8ed63c39a7a18feb05505c4e2bec', 1795051468064, 1795051467062, 1795051467079);
INSERT INTO public.trials VALUES (17, 4, 0, '{"x": 0.32489336154}', 'e75ca5716a6f3d99cb494caea8a06090c2bbfbdaf45178ea91fe460659f17d95', 5854950545185455, '{"strategy": "quasi_random", "watermark": 0, "refused": 0, "nearest_trial": null, "distance": null, "estimate": null, "acceptance": 1.0}', 'succeeded', NULL, 0.5, 1, 3, '3c9cb383b67d9b4049afa7ee57183241', 1795051468828, 1795051467822, 1795051467842);
INSERT INTO public.trials VALUES (18, 5, 0, '{"x": 0.813354060979}', '69924794c4ff764b71e49b59be3879fc0d97dc2efd8d87b7ccb805ed14fe85a7', 5854950545185455, '{"strategy": "biased_random", "watermark": 0, "refused": 0, "nearest_trial": null, "distance": null, "estimate": null, "acceptance": 1.0}', 'failed', 'attempts_used_up', NULL, 1, 1, 'a5a43ccef1733a4226e8e467bfa119d4', 1795051468859, 1795051467857, 1795051470366);
INSERT INTO public.trials VALUES (19, 1, 10, '{"lr": 0.890879778312, "width": 56, "rule": "kfac", "size": "wide"}', 'efa3a14fc460e31e7188e40db194ddc02120055ad7aab463b7d307591e5ba6f1', 6314891083002266, '{"strategy": "biased_random", "watermark": 10, "refused": 1, "nearest_trial": 0, "distance": 0.37606139104802366, "estimate": 0.5, "acceptance": 1.0}', 'running', NULL, NULL, 1, 2, 'ba9f314ca5e188617df594212068499d', 1795051471401, 1795051470384, NULL);
SELECT pg_catalog.setval('public.clock_id_seq', 1, false);
SELECT pg_catalog.setval('public.studies_id_seq', 5, true);
SELECT pg_catalog.setval('public.trials_id_seq', 19, true);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_lease_id_unique UNIQUE (lease_id);
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_pk PRIMARY KEY (trial_id, number);
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_worker_incarnation_request_id_unique UNIQUE (worker, incarnation, request_id);
ALTER TABLE ONLY public.clock
    ADD CONSTRAINT clock_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.observations
    ADD CONSTRAINT observations_pk PRIMARY KEY (study_id, seq);
ALTER TABLE ONLY public.reports
    ADD CONSTRAINT reports_pk PRIMARY KEY (trial_id, attempt, first_step);
ALTER TABLE ONLY public.studies
    ADD CONSTRAINT studies_name_unique UNIQUE (name);
ALTER TABLE ONLY public.studies
    ADD CONSTRAINT studies_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.trials
    ADD CONSTRAINT trials_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.trials
    ADD CONSTRAINT trials_study_id_config_key_unique UNIQUE (study_id, config_key);
ALTER TABLE ONLY public.trials
    ADD CONSTRAINT trials_study_id_number_unique UNIQUE (study_id, number);
CREATE INDEX trials_by_loss ON public.trials USING btree (study_id, loss, number) WHERE ((state)::text = 'succeeded'::text);
CREATE INDEX trials_to_lease ON public.trials USING btree (free_at, id) WHERE ((state)::text = ANY ((ARRAY['queued'::character varying, 'running'::character varying])::text[]));
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_trial_id_fk FOREIGN KEY (trial_id) REFERENCES public.trials(id);
ALTER TABLE ONLY public.observations
    ADD CONSTRAINT observations_study_id_fk FOREIGN KEY (study_id) REFERENCES public.studies(id);
ALTER TABLE ONLY public.reports
    ADD CONSTRAINT reports_trial_id_fk FOREIGN KEY (trial_id) REFERENCES public.trials(id);
ALTER TABLE ONLY public.trials
    ADD CONSTRAINT trials_study_id_fk FOREIGN KEY (study_id) REFERENCES public.studies(id);
