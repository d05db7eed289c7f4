\set wid random(1, 1000)
\startpipeline
BEGIN;
UPDATE bare_flow SET step = (step + 1) % 10, note = 'step of ' || :wid WHERE wid = :wid;
INSERT INTO bare_trace (wid, state) VALUES (:wid,
  '{"step": 3, "note": "step 2 of 17 for ann", "customer": "ann", "product": "tea", "quantity": 3, "price": null,
    "paid": false, "city": "Paris", "street": "Rue X", "remark": null}');
DELETE FROM bare_job WHERE wid = :wid AND tgid = 0;
INSERT INTO bare_job VALUES (:wid, 0,
  '{"step": 3, "note": "step 2 of 17 for ann", "customer": "ann", "product": "tea", "quantity": 3, "price": null,
    "paid": false, "city": "Paris", "street": "Rue X", "remark": null}') ON CONFLICT DO NOTHING;
COMMIT;
\endpipeline
