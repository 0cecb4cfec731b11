/* Asks the interpreter where it is, and tells: a reference for --python. By its stable interface,
   which the program that loads this has. */
#include <stddef.h>

typedef struct Object Object;
extern Object* PyEval_GetFrame(void);
extern Object* PyFrame_GetCode(Object* frame);
extern int PyFrame_GetLineNumber(Object* frame);
extern Object* PyObject_GetAttrString(Object* object, const char* name);
extern const char* PyUnicode_AsUTF8AndSize(Object* object, ptrdiff_t* size);
extern void Py_DecRef(Object* object);
extern void PyErr_Clear(void);
extern int PySys_AddAuditHook(int (*hook)(const char*, Object*, void*), void* data);

int told(int line, const char* function, const char* file);

/* Calls told() with where the innermost Python function is. */
void tell_place(void) {
  Object* const frame = PyEval_GetFrame(); /* borrowed */
  if (frame == NULL) return;
  Object* const code = PyFrame_GetCode(frame);
  Object* function = PyObject_GetAttrString(code, "co_qualname");
  if (function == NULL) { /* before 3.11 */
    PyErr_Clear();
    function = PyObject_GetAttrString(code, "co_name");
  }
  Object* const file = PyObject_GetAttrString(code, "co_filename");
  if (function != NULL && file != NULL)
    told(PyFrame_GetLineNumber(frame), PyUnicode_AsUTF8AndSize(function, NULL),
         PyUnicode_AsUTF8AndSize(file, NULL));
  PyErr_Clear();
  if (function != NULL) Py_DecRef(function);
  if (file != NULL) Py_DecRef(file);
  Py_DecRef(code);
}

static _Thread_local int is_inside;

static int on_event(const char* event, Object* arguments, void* data) {
  (void)event, (void)arguments, (void)data;
  if (is_inside) return 0;
  is_inside = 1;
  tell_place();
  is_inside = 0;
  return 0;
}

/* From now on at each audited event: imports, files that are opened, code that is compiled ... */
void tell_events(void) { PySys_AddAuditHook(on_event, NULL); }
